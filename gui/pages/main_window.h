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

/// The window: a start page while there is no trace; then the pages of the trace, listed on a rail,
/// under a line of doubts. Leads from page to page.
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `keep_settings`: remember theme, window and recent files between runs.
  explicit MainWindow(bool keep_settings, QWidget* parent = nullptr);
  ~MainWindow() override;

  /// As below, with nothing but a file or folder.
  void open(const std::filesystem::path& path);
  /// Several files, folders, a stretch of time, a recording that goes on. A cache folder
  /// that is not given is set as the settings say.
  void open(OpenRequest request);
  /// False: opens without the cache, whatever the settings say.
  void set_cache_allowed(bool allowed) { cache_allowed_ = allowed; }
  /// Opens a second trace beside the one that is open or being opened.
  void compare_with(const std::filesystem::path& path);
  /// For the traces opened from now on.
  void set_analysis_options(const analyzer::AnalysisOptions& options) {
    analysis_options_ = options;
  }
  void show_page(Page page);
  /// Shows the page, filled, and on it what the link names.
  void go_to(const Link& link);
  void set_dark(bool dark);
  bool is_dark() const { return theme_->dark; }
  /// Carries out a command wherever it belongs.
  void run(Command command);

  const std::shared_ptr<const Session>& session() const { return session_; }
  Page page() const { return page_; }
  /// The page, filled.
  PageWidget& widget(Page page);
  TimelinePage& timeline();
  FindingsPage& findings();
  OpsPage& ops();
  StepsPage& steps();
  ComparePage& compare();
  StartPage& start() { return *start_; }
  ExportMenu& exports();
  MainMenus& menus() { return *menus_; }
  /// Those that are still there, newest first.
  QStringList recent_files() const;

 signals:
  /// The timeline of a large trace is there; `opened` follows.
  void looked();
  /// A trace is open and its pages are filled.
  void opened();
  /// The recording that is followed was read again.
  void grown();
  /// Nothing was opened; `code` is what the command line exits with.
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
  /// The button beside the headline.
  void stop_or_start_analysis();
  void show_error(const QString& message, ExitCode code, Interval stretch);
  /// Opens the part of the trace that would fit into memory.
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
  OpenRequest request_;   ///< what is open
  OpenRequest pending_;   ///< what is, or was last, being opened
  Interval stretch_;      ///< of `pending_`, that would fit
  QString progress_;      ///< of the analysis behind a first look; empty: it was cancelled
  bool stalled_ = false;  ///< the recording that is followed says nothing any more
  Page page_ = Page::kSummary;
  analyzer::AnalysisOptions analysis_options_;
  std::shared_ptr<const Session> session_;
  QString path_;
  QStackedWidget* outer_;     ///< start page or trace
  QStackedWidget* pages_;     ///< by Page; then `waiting_`
  WaitingPage* waiting_;      ///< in the place of pages that need the analysis
  std::vector<bool> filled_;  ///< by Page: it shows `session_`
  QListWidget* rail_;
  LinkLabel* headline_;
  QPushButton* analysis_;  ///< beside the headline: cancel the analysis, or make it after all
  DoubtsBanner* banner_;
  StartPage* start_;
  HelpOverlay* help_;
  MainMenus* menus_ = nullptr;
  bool compare_when_open_ = false;  ///< once the trace is open, show that page
};

}  // namespace headway::gui
