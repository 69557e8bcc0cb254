// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QPointer>
#include <QScrollArea>
#include <memory>

#include "gui/background_task.h"
#include "gui/models/details/details.h"
#include "gui/models/opening/session.h"

namespace headway::gui {

class WrapLabel;

/// What is selected on the timeline, line by line; lines that lead somewhere can be followed. What
/// takes a pass over a large trace comes a moment later, from another thread.
class DetailsPanel : public QScrollArea {
  Q_OBJECT
 public:
  explicit DetailsPanel(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session);
  /// `links`: of the target, as far as they are known.
  void show_target(const Target& target, std::vector<EventLink> links = {});
  /// Facts of a selected stretch of time, counted on another thread in a large trace.
  void show_range(Interval range);
  void show_lines(const QString& title, const std::vector<Detail>& lines);
  /// "Label: value" lines of what is shown.
  QString text() const;
  /// Opens a line of the recorded program in the editor. What was done, or why not, stands below the title
  /// and is returned.
  QString open_source(const SourcePlace& place);

 signals:
  void followed(const headway::gui::Target& target);

 private:
  void show_hint();

  /// Whether a pass over the trace would be felt on the UI thread.
  bool is_large() const;

  std::shared_ptr<const Session> session_;
  BackgroundTask* task_;
  QString title_;
  std::vector<Detail> lines_;
  QPointer<WrapLabel> source_note_;
};

}  // namespace headway::gui
