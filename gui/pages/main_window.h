// SPDX-License-Identifier: MIT
#pragma once

#include <QMainWindow>
#include <QStackedWidget>
#include <QTabBar>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "gui/models/session.h"
#include "gui/models/shortcuts.h"
#include "gui/pages/trace_loader.h"
#include "gui/timeline/theme.h"

namespace headway::gui {

class DoubtsBanner;
class FindingsPage;
class HelpOverlay;
class LinkLabel;
class OpsPage;
class StartPage;
class StepsPage;
class SummaryPage;
class TimelinePage;

/// The pages of an open trace, in the order of their tabs.
enum class Page : std::uint8_t { kSummary, kTimeline, kFindings, kOps, kSteps };
/// "timeline" for Page::kTimeline: as on the command line.
std::string_view page_id(Page page);
std::optional<Page> page_from_id(std::string_view id);

/// The window: a start page while there is no trace; then the pages of the trace under a line of
/// doubts. Leads from page to page.
class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  /// `keep_settings`: remember theme, window and recent files between runs.
  explicit MainWindow(bool keep_settings, QWidget* parent = nullptr);
  ~MainWindow() override;

  void open(const std::filesystem::path& path);
  /// For the traces opened from now on.
  void set_analysis_options(const analyzer::AnalysisOptions& options) {
    analysis_options_ = options;
  }
  void show_page(Page page);
  void set_dark(bool dark);
  bool is_dark() const { return theme_->dark; }
  /// Carries out a command wherever it belongs.
  void run(Command command);

  const std::shared_ptr<const Session>& session() const { return session_; }
  Page page() const;
  TimelinePage& timeline() { return *timeline_; }
  FindingsPage& findings() { return *findings_; }
  OpsPage& ops() { return *ops_; }
  StepsPage& steps() { return *steps_; }
  StartPage& start() { return *start_; }

 signals:
  /// A trace is open and its pages are filled.
  void opened();
  void open_failed(const QString& message, headway::ExitCode code);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  void build_pages();
  void build_menus();
  void connect_pages();
  QAction* add_action(QMenu* menu, Command command);
  void add_hint(QMenu* menu, Command command);
  void choose_file();
  void open_file(const QString& path);
  void show_session(std::shared_ptr<const Session> session);
  void show_error(const QString& message, ExitCode code);
  void show_welcome();
  void apply_theme();
  QStringList recent_files() const;
  void remember_file(const QString& path);
  void fill_recent_menu();

  bool keep_settings_;
  const Theme* theme_ = &Theme::light();
  TraceLoader* loader_;
  analyzer::AnalysisOptions analysis_options_;
  std::shared_ptr<const Session> session_;
  QString path_;
  QStackedWidget* outer_;  ///< start page or trace
  QStackedWidget* pages_;
  QTabBar* tabs_;
  LinkLabel* headline_;
  DoubtsBanner* banner_;
  StartPage* start_;
  SummaryPage* summary_;
  TimelinePage* timeline_;
  FindingsPage* findings_;
  OpsPage* ops_;
  StepsPage* steps_;
  HelpOverlay* help_;
  QMenu* recent_menu_ = nullptr;
  QAction* dark_action_ = nullptr;
};

}  // namespace headway::gui
