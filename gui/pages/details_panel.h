// SPDX-License-Identifier: MIT
#pragma once

#include <QLabel>
#include <QScrollArea>
#include <memory>

#include "gui/models/details.h"
#include "gui/models/session.h"

namespace headway::gui {

/// What is selected on the timeline, line by line; lines that lead somewhere can be followed.
class DetailsPanel : public QScrollArea {
  Q_OBJECT
 public:
  explicit DetailsPanel(QWidget* parent = nullptr);

  void set_session(std::shared_ptr<const Session> session);
  void show_target(const Target& target);
  void show_range(Interval range);
  /// "Label: value" lines of what is shown.
  QString text() const;

 signals:
  void followed(const headway::gui::Target& target);

 private:
  void show_lines(const QString& title, const std::vector<Detail>& lines);
  void show_hint();

  std::shared_ptr<const Session> session_;
  QString title_;
  std::vector<Detail> lines_;
};

}  // namespace headway::gui
