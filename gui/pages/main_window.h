// SPDX-License-Identifier: MIT
#pragma once

#include <QListWidget>
#include <QMainWindow>
#include <QPushButton>
#include <QStackedWidget>
#include <filesystem>
#include <memory>
#include <vector>

#include "gui/models/window/shortcuts.h"
#include "gui/pages/page_widget.h"
#include "gui/pages/trace_loader.h"

namespace headway::gui {

class ComparePage;
class DoubtsBanner;
class ExportMenu;
class FindingsPage;
class HelpOverlay;
class LinkLabel;
class MainMenus;
class OpsPage;
class StartPage;
class StepsPage;
class TimelinePage;
class WaitingPage;

/// The main window: a start page while there is no trace; then the pages of the trace, listed on a
/// rail, below a line of doubts. Handles the links between pages.
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `keep_settings`: save theme, window geometry and recent files between runs.
  explicit MainWindow(bool keep_settings, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// The same as below for a single file or folder.
  void open(const std::filesystem::path& path);
  /// Opens several files, folders, a time range, or a recording in progress. If the request has no
  /// cache folder, it is set from the settings.
  void open(OpenRequest request);
  /// False: never uses the cache, whatever the settings say.
  void set_cache_allowed(bool allowed) { cache_allowed_ = allowed; }
  /// Opens a second trace beside the one that is open or being opened.
  void compare_with(const std::filesystem::path& path);
  /// The options for traces opened from now on.
  void set_analysis_options(const analyzer::AnalysisOptions& options) {
    analysis_options_ = options;
  }
  void show_page(Page page);
  /// Shows the page with its content, and selects the link's target on it.
  void go_to(const Link& link);
  void set_dark(bool dark);
  bool is_dark() const { return theme_->dark; }
  /// Runs a command on the page that it belongs to.
  void run(Command command);

  const std::shared_ptr<const Session>& session() const { return session_; }
  Page page() const { return page_; }
  /// The page, filled with its content.
  PageWidget& widget(Page page);
  TimelinePage& timeline();
  FindingsPage& findings();
  OpsPage& ops();
  StepsPage& steps();
  ComparePage& compare();
  StartPage& start() { return *start_; }
  ExportMenu& exports();
  MainMenus& menus() { return *menus_; }
  /// Recent files that still exist, newest first.
  QStringList recent_files() const;

 signals:
  /// The timeline of a large trace can be shown; `opened` follows.
  void looked();
  /// A trace is open and its pages are ready.
  void opened();
  /// The followed recording was read again.
  void grown();
  /// Opening failed; `code` is the exit status for the command line.
  void open_failed(const QString& message, headway::ExitCode code);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  void build_pages();
  void connect_pages();
  void fill_rail();
  void choose_file();
  QString ask_for_trace(const QString& title);
  void open_file(const QString& path);
  QString files_text() const;
  void show_session(std::shared_ptr<const Session> session);
  void update_session(std::shared_ptr<const Session> session);
  void show_headline();
  void show_progress(const QString& what, double share);
  /// Handles the button beside the headline.
  void stop_or_start_analysis();
  void show_error(const QString& message, ExitCode code, Interval stretch);
  /// Opens the part of the trace that fits into memory.
  void open_stretch();
  void show_welcome();
  void apply_theme();
  void remember_file(const QString& path);
  void restore_settings();
  void save_settings() const;

  bool keep_settings_;
  const Theme* theme_ = &Theme::light();
  bool cache_allowed_ = true;
  TraceLoader* loader_;
  OpenRequest request_;   ///< the open trace
  OpenRequest pending_;   ///< the trace that is being opened, or was opened last
  Interval stretch_;      ///< part of `pending_` that would fit into memory
  QString progress_;      ///< progress of the analysis after a first look; empty: it was cancelled
  bool stalled_ = false;  ///< the followed recording has stopped growing
  Page page_ = Page::kSummary;
  analyzer::AnalysisOptions analysis_options_;
  std::shared_ptr<const Session> session_;
  QString path_;
  QStackedWidget* outer_;     ///< start page, or the pages of a trace
  QStackedWidget* pages_;     ///< by Page; then `waiting_`
  WaitingPage* waiting_;      ///< replaces pages that need the analysis
  std::vector<bool> filled_;  ///< by Page: it shows `session_`
  QListWidget* rail_;
  LinkLabel* headline_;
  QPushButton* analysis_;  ///< button beside the headline: cancels or restarts the analysis
  DoubtsBanner* banner_;
  StartPage* start_;
  HelpOverlay* help_;
  MainMenus* menus_ = nullptr;
  bool compare_when_open_ = false;  ///< show the compare page once the trace is open
};

}  // namespace headway::gui
