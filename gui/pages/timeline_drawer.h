// SPDX-License-Identifier: MIT
#pragma once

#include <QTabWidget>

#include "gui/models/window/shortcuts.h"
#include "gui/pages/call_stacks_panel.h"
#include "gui/pages/hits_panel.h"
#include "gui/pages/range_rows_panel.h"

namespace headway::gui {

/// Tables below the timeline that need its width: hits of the search, the selected time range by
/// row, and the host's call stacks in it. Hidden until the user opens one.
class TimelineDrawer : public QTabWidget {
  Q_OBJECT
 public:
  explicit TimelineDrawer(QWidget* parent = nullptr);

  HitsPanel& hits() { return *hits_; }
  RangeRowsPanel& rows() { return *rows_; }
  CallStacksPanel& stacks() { return *stacks_; }
  /// Shows the drawer with that panel, or hides it if the panel is already shown.
  void toggle(QWidget& panel);
  bool shows(const QWidget& panel) const { return !isHidden() && currentWidget() == &panel; }

 signals:
  void followed(const headway::gui::Target& target);
  /// The drawer was opened, closed, or switched to another panel.
  void turned();
  /// Esc in one of its tables, or its close button: the timeline gets the keyboard focus.
  void left();
  /// The user pressed the key of another panel.
  void asked(headway::gui::Command command);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  /// Keeps tables from using letters to search in their first column.
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  bool turn(const QKeyEvent& event);

  HitsPanel* hits_;
  RangeRowsPanel* rows_;
  CallStacksPanel* stacks_;
};

}  // namespace headway::gui
