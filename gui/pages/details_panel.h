// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QPointer>
#include <QScrollArea>
#include <memory>

#include "gui/models/details/details.h"
#include "gui/models/opening/session.h"
#include "gui/timeline/background_task.h"

namespace headway::gui {

class WrapLabel;

/// Describes the selection of the timeline, line by line; lines with a target are links. Lines that
/// need a pass over a large trace are added later by another thread.
class DetailsPanel : public QScrollArea {
  Q_OBJECT
 public:
  explicit DetailsPanel(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session);
  /// `links`: the known links of the target.
  void show_target(const Target& target, std::vector<EventLink> links = {});
  /// Shows facts about a selected time range; in a large trace another thread computes them.
  void show_range(Interval range);
  void show_lines(const QString& title, const std::vector<Detail>& lines);
  /// The shown lines as "Label: value".
  QString text() const;
  /// Opens a line of the recorded program in the editor. A text about the result is shown below the
  /// title and returned.
  QString open_source(const SourcePlace& place);

 signals:
  void followed(const headway::gui::Target& target);

 private:
  void show_hint();

  /// True if a pass over the trace would noticeably block the UI thread.
  bool is_large() const;

  std::shared_ptr<const Session> session_;
  BackgroundTask* task_;
  QString title_;
  std::vector<Detail> lines_;
  QPointer<WrapLabel> source_note_;
};

}  // namespace headway::gui
