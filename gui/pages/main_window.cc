// SPDX-License-Identifier: MIT
#include "gui/pages/main_window.h"

#include <QAction>
#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMenuBar>
#include <QMimeData>
#include <QSettings>
#include <QVBoxLayout>
#include <array>

#include "gui/models/display_text.h"
#include "gui/pages/doubts_banner.h"
#include "gui/pages/findings_page.h"
#include "gui/pages/help_overlay.h"
#include "gui/pages/labels.h"
#include "gui/pages/ops_page.h"
#include "gui/pages/start_page.h"
#include "gui/pages/steps_page.h"
#include "gui/pages/summary_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/timeline/key_bindings.h"

namespace headway::gui {
namespace {

constexpr std::array<std::string_view, 5> kPageIds = {"summary", "timeline", "findings", "ops",
                                                      "steps"};
constexpr int kMostRecent = 8;

QString text(std::string_view view) {
  return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

}  // namespace

std::string_view page_id(Page page) {
  return kPageIds[static_cast<std::size_t>(page)];
}

std::optional<Page> page_from_id(std::string_view id) {
  for (std::size_t i = 0; i < kPageIds.size(); ++i) {
    if (kPageIds[i] == id) return static_cast<Page>(i);
  }
  return std::nullopt;
}

MainWindow::MainWindow(bool keep_settings, QWidget* parent)
    : QMainWindow(parent), keep_settings_(keep_settings), loader_(new TraceLoader(this)) {
  setWindowTitle(tr("Headway"));
  setAcceptDrops(true);
  build_pages();
  build_menus();
  connect_pages();
  resize(1440, 900);
  bool dark = QApplication::palette().color(QPalette::Window).lightness() < 128;
  if (keep_settings_) {
    QSettings settings;
    dark = settings.value(QStringLiteral("dark"), dark).toBool();
    restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
  }
  set_dark(dark);
  show_welcome();
}

MainWindow::~MainWindow() = default;

void MainWindow::build_pages() {
  outer_ = new QStackedWidget;
  start_ = new StartPage;
  QWidget* trace = new QWidget;
  tabs_ = new QTabBar;
  tabs_->setObjectName(QStringLiteral("pages"));
  tabs_->setDrawBase(false);
  tabs_->setExpanding(false);
  tabs_->setAccessibleName(tr("Pages"));
  headline_ = new LinkLabel({});
  headline_->set_single_line(true);
  headline_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  pages_ = new QStackedWidget;
  pages_->addWidget(summary_ = new SummaryPage);
  pages_->addWidget(timeline_ = new TimelinePage);
  pages_->addWidget(findings_ = new FindingsPage);
  pages_->addWidget(ops_ = new OpsPage);
  pages_->addWidget(steps_ = new StepsPage);
  for (const QString& name :
       {tr("Summary"), tr("Timeline"), tr("Findings"), tr("Ops"), tr("Steps")})
    tabs_->addTab(name);
  banner_ = new DoubtsBanner;
  QHBoxLayout* top = new QHBoxLayout;
  top->setContentsMargins(6, 0, 14, 0);
  top->addWidget(tabs_);
  top->addSpacing(20);
  top->addWidget(headline_, 1);
  QFrame* line = new QFrame;
  line->setObjectName(QStringLiteral("line"));
  line->setFixedHeight(1);
  QVBoxLayout* layout = new QVBoxLayout(trace);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addLayout(top);
  layout->addWidget(line);
  layout->addWidget(banner_);
  layout->addWidget(pages_, 1);
  outer_->addWidget(start_);
  outer_->addWidget(trace);
  setCentralWidget(outer_);
  help_ = new HelpOverlay(outer_);
}

void MainWindow::connect_pages() {
  connect(tabs_, &QTabBar::currentChanged, this, [this](int page) {
    pages_->setCurrentIndex(page);
    if (pages_->currentWidget()) pages_->currentWidget()->setFocus();
  });
  connect(start_, &StartPage::open_wanted, this, &MainWindow::choose_file);
  connect(start_, &StartPage::file_wanted, this, &MainWindow::open_file);
  connect(start_, &StartPage::cancel_wanted, this, [this] {
    loader_->cancel();
    if (session_) {
      outer_->setCurrentIndex(1);
    } else {
      show_welcome();
    }
  });
  connect(loader_, &TraceLoader::progressed, start_, &StartPage::show_progress);
  connect(loader_, &TraceLoader::loaded, this, &MainWindow::show_session);
  connect(loader_, &TraceLoader::failed, this, &MainWindow::show_error);
  auto open_finding = [this](int finding) {
    findings_->show_finding(finding);
    show_page(Page::kFindings);
  };
  connect(headline_, &LinkLabel::followed, this, [open_finding] { open_finding(0); });
  connect(summary_, &SummaryPage::finding_opened, this, open_finding);
  connect(summary_, &SummaryPage::segment_followed, this, [this](const Target& target) {
    show_page(Page::kTimeline);
    timeline_->show_target(target);
  });
  connect(findings_, &FindingsPage::evidence_followed, this, [this](int finding, int evidence) {
    show_page(Page::kTimeline);
    timeline_->show_evidence(finding, evidence);
  });
  connect(timeline_, &TimelinePage::op_wanted, this, [this](trace::DeviceOpId op) {
    show_page(Page::kOps);
    ops_->show_op(op);
  });
  connect(ops_, &OpsPage::op_followed, this, [this](trace::DeviceOpId op) {
    show_page(Page::kTimeline);
    timeline_->show_target(Target::of(analyzer::EventRef::of(op)));
  });
  connect(steps_, &StepsPage::step_followed, this, [this](std::uint32_t step, Interval where) {
    show_page(Page::kTimeline);
    timeline_->show_step(step, where);
  });
}

/// A menu entry whose key works in the whole window.
QAction* MainWindow::add_action(QMenu* menu, Command command) {
  const Shortcut& declared = shortcut(command);
  QAction* action = menu->addAction(text(declared.text));
  action->setShortcuts(sequences(command));
  connect(action, &QAction::triggered, this, [this, command] { run(command); });
  return action;
}

/// A menu entry for a key of the timeline: shown, but left to the timeline, so that letters can be
/// typed elsewhere.
void MainWindow::add_hint(QMenu* menu, Command command) {
  QAction* action = menu->addAction(text(shortcut(command).text) + '\t' + keys_text(command));
  connect(action, &QAction::triggered, this, [this, command] {
    show_page(Page::kTimeline);
    run(command);
  });
}

void MainWindow::build_menus() {
  QMenu* file = menuBar()->addMenu(tr("&File"));
  add_action(file, Command::kOpen);
  recent_menu_ = file->addMenu(tr("Open &recent"));
  connect(recent_menu_, &QMenu::aboutToShow, this, &MainWindow::fill_recent_menu);
  file->addSeparator();
  add_action(file, Command::kQuit);
  QMenu* view = menuBar()->addMenu(tr("&View"));
  for (Command page : {Command::kPageSummary, Command::kPageTimeline, Command::kPageFindings,
                       Command::kPageOps, Command::kPageSteps})
    add_action(view, page);
  view->addSeparator();
  dark_action_ = view->addAction(tr("&Dark colours"));
  dark_action_->setCheckable(true);
  connect(dark_action_, &QAction::triggered, this, [this](bool dark) {
    set_dark(dark);
    if (keep_settings_) QSettings().setValue(QStringLiteral("dark"), dark);
  });
  QMenu* timeline = menuBar()->addMenu(tr("&Timeline"));
  for (Command search : {Command::kSearch, Command::kSearchNext, Command::kSearchPrevious})
    add_action(timeline, search);
  std::string_view group;
  for (const Shortcut& one : shortcuts()) {
    bool general = one.group == shortcuts().front().group;
    if (general) continue;
    if (one.group != group) timeline->addSeparator();
    group = one.group;
    add_hint(timeline, one.command);
  }
  QMenu* help = menuBar()->addMenu(tr("&Help"));
  add_action(help, Command::kHelp);
}

void MainWindow::run(Command command) {
  switch (command) {
    case Command::kOpen:
      return choose_file();
    case Command::kQuit:
      close();
      return;
    case Command::kHelp:
      return help_->toggle();
    case Command::kPageSummary:
    case Command::kPageTimeline:
    case Command::kPageFindings:
    case Command::kPageOps:
    case Command::kPageSteps:
      return show_page(
          static_cast<Page>(static_cast<int>(command) - static_cast<int>(Command::kPageSummary)));
    case Command::kSearch:
    case Command::kSearchNext:
    case Command::kSearchPrevious:
      show_page(Page::kTimeline);
      break;
    default:
      break;
  }
  if (session_) timeline_->run(command);
}

void MainWindow::show_page(Page page) {
  if (!session_) return;
  tabs_->setCurrentIndex(static_cast<int>(page));
  pages_->setCurrentIndex(static_cast<int>(page));
}

Page MainWindow::page() const {
  return static_cast<Page>(pages_->currentIndex());
}

void MainWindow::choose_file() {
  QString folder = path_.isEmpty() ? QString() : QFileInfo(path_).path();
  QString file = QFileDialog::getOpenFileName(
      this, tr("Open a trace"), folder, tr("Traces (*.sqlite *.sqlite3 *.db);;All files (*)"));
  if (!file.isEmpty()) open_file(file);
}

void MainWindow::open_file(const QString& path) {
  open(std::filesystem::path(QFile::encodeName(path).toStdString()));
}

void MainWindow::open(const std::filesystem::path& path) {
  path_ = QFile::decodeName(QByteArray::fromStdString(path.string()));
  start_->show_loading(path_);
  outer_->setCurrentIndex(0);
  loader_->start(path, analysis_options_);
}

void MainWindow::show_session(std::shared_ptr<const Session> session) {
  session_ = std::move(session);
  summary_->set_session(session_);
  timeline_->set_session(session_);
  findings_->set_session(session_);
  ops_->set_session(session_);
  steps_->set_session(session_);
  banner_->set_session(session_);
  headline_->setText(QString::fromStdString(session_->summary.headline));
  std::int64_t found = std::count_if(
      session_->analysis.findings.begin(), session_->analysis.findings.end(),
      [](const analyzer::Finding& finding) { return finding.status == analyzer::Status::kFound; });
  tabs_->setTabText(static_cast<int>(Page::kFindings),
                    found ? tr("Findings (%1)").arg(found) : tr("Findings"));
  setWindowTitle(
      QString::fromStdString(display_text(QFileInfo(path_).fileName().toStdString(), 120)) +
      tr(" – Headway"));
  outer_->setCurrentIndex(1);
  show_page(Page::kSummary);
  if (keep_settings_) remember_file(QFileInfo(path_).absoluteFilePath());
  emit opened();
}

void MainWindow::show_error(const QString& message, ExitCode code) {
  start_->show_error(path_, message);
  outer_->setCurrentIndex(0);
  emit open_failed(message, code);
}

void MainWindow::show_welcome() {
  start_->show_welcome(recent_files());
  outer_->setCurrentIndex(0);
}

void MainWindow::set_dark(bool dark) {
  theme_ = dark ? &Theme::dark_theme() : &Theme::light();
  dark_action_->setChecked(dark);
  apply_theme();
}

void MainWindow::apply_theme() {
  QApplication::setPalette(theme_->palette());
  setStyleSheet(theme_->style_sheet());
  summary_->set_theme(*theme_);
  timeline_->set_theme(*theme_);
  findings_->set_theme(*theme_);
  ops_->set_theme(*theme_);
  steps_->set_theme(*theme_);
  banner_->set_theme(*theme_);
  help_->set_theme(*theme_);
}

QStringList MainWindow::recent_files() const {
  if (!keep_settings_) return {};
  QStringList files = QSettings().value(QStringLiteral("recent")).toStringList();
  files.removeIf([](const QString& file) { return !QFileInfo::exists(file); });
  return files;
}

void MainWindow::remember_file(const QString& path) {
  QStringList files = QSettings().value(QStringLiteral("recent")).toStringList();
  files.removeAll(path);
  files.prepend(path);
  QSettings().setValue(QStringLiteral("recent"), QStringList(files.mid(0, kMostRecent)));
}

void MainWindow::fill_recent_menu() {
  recent_menu_->clear();
  for (const QString& file : recent_files()) {
    // An ampersand in a file's name is no shortcut.
    QString shown = QString::fromStdString(display_text(file.toStdString(), 90));
    QAction* action = recent_menu_->addAction(shown.replace('&', QStringLiteral("&&")));
    connect(action, &QAction::triggered, this, [this, file] { open_file(file); });
  }
  if (recent_menu_->isEmpty()) recent_menu_->addAction(tr("No recent files"))->setEnabled(false);
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.size() == 1 && urls.front().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.size() == 1 && urls.front().isLocalFile()) open_file(urls.front().toLocalFile());
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (keep_settings_) QSettings().setValue(QStringLiteral("geometry"), saveGeometry());
  QMainWindow::closeEvent(event);
}

}  // namespace headway::gui
