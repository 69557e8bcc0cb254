// SPDX-License-Identifier: MIT
#pragma once

#include <QAction>
#include <QMenu>
#include <QObject>
#include <vector>

#include "gui/models/window/shortcuts.h"

namespace headway::gui {

class ExportMenu;
class GuideDialog;
class MainWindow;

/// The window's menu bar. Entries that need a trace are disabled without one, and so are their
/// keys.
class MainMenus : public QObject {
  Q_OBJECT
 public:
  /// `keep_settings`: save the user's choices between runs.
  MainMenus(MainWindow& window, bool keep_settings);

  /// Enables or disables the entries that need a trace.
  void set_trace_open(bool open);
  void set_dark(bool dark) { dark_->setChecked(dark); }
  ExportMenu& exports() { return *exports_; }
  void show_guide();
  void show_about();

 signals:
  void file_wanted(const QString& file);
  void dark_wanted(bool dark);

 private:
  void build_file(bool keep_settings);
  void build_view();
  void build_timeline();
  void build_help();
  QAction* add_action(QMenu* menu, Command command);
  /// Adds an entry for a command whose key the timeline handles itself: shows the key; a click
  /// switches to the timeline and runs the command.
  void add_hint(QMenu* menu, Command command);
  void fill_recent();

  MainWindow& window_;
  QMenu* recent_ = nullptr;
  ExportMenu* exports_ = nullptr;
  QAction* dark_ = nullptr;
  GuideDialog* guide_ = nullptr;
  std::vector<QAction*> needs_trace_;  ///< disabled while no trace is open
};

}  // namespace headway::gui
