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
#include <QStandardPaths>
#include <QVBoxLayout>

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

constexpr int kMostRecent = 8;

QString text(std::string_view view) {
  return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

/// Of the user, not of the trace: a trace is only read.
std::filesystem::path bookmark_folder() {
  QString data = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
  if (data.isEmpty()) return {};
  return std::filesystem::path(QFile::encodeName(data).toStdString()) / "bookmarks";
}

PageWidget* make_page(Page page) {
  switch (page) {
    case Page::kSummary:
      return new SummaryPage;
    case Page::kTimeline:
      return new TimelinePage;
    case Page::kFindings:
      return new FindingsPage;
    case Page::kOps:
      return new OpsPage;
    case Page::kSteps:
      return new StepsPage;
  }
  HEADWAY_INVARIANT(false);
  return nullptr;
}

}  // namespace

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
  rail_ = new QListWidget;
  rail_->setObjectName(QStringLiteral("pages"));
  rail_->setFrameShape(QFrame::NoFrame);
  rail_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  rail_->setAccessibleName(tr("Pages"));
  headline_ = new LinkLabel({});
  headline_->set_single_line(true);
  headline_->setContentsMargins(14, 6, 14, 6);
  pages_ = new QStackedWidget;
  for (const PageInfo& one : pages()) {
    PageWidget* widget = make_page(one.page);
    connect(widget, &PageWidget::followed, this, &MainWindow::go_to);
    if (one.page == Page::kTimeline && keep_settings_)
      static_cast<TimelinePage*>(widget)->keep_bookmarks_in(bookmark_folder());
    pages_->addWidget(widget);
    rail_->addItem(text(one.title));
  }
  filled_.assign(pages().size(), false);
  banner_ = new DoubtsBanner;
  auto line = [] {
    QFrame* frame = new QFrame;
    frame->setObjectName(QStringLiteral("line"));
    return frame;
  };
  QFrame* below = line();
  below->setFixedHeight(1);
  QFrame* beside = line();
  beside->setFixedWidth(1);
  QVBoxLayout* right = new QVBoxLayout;
  right->setSpacing(0);
  right->addWidget(headline_);
  right->addWidget(below);
  right->addWidget(banner_);
  right->addWidget(pages_, 1);
  QHBoxLayout* layout = new QHBoxLayout(trace);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(rail_);
  layout->addWidget(beside);
  layout->addLayout(right, 1);
  outer_->addWidget(start_);
  outer_->addWidget(trace);
  setCentralWidget(outer_);
  help_ = new HelpOverlay(outer_);
}

void MainWindow::connect_pages() {
  connect(rail_, &QListWidget::currentRowChanged, this, [this](int page) {
    if (page < 0) return;
    show_page(static_cast<Page>(page));
    pages_->currentWidget()->setFocus();
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
  connect(headline_, &LinkLabel::followed, this,
          [this] { go_to({.page = Page::kFindings, .finding = 0}); });
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
  for (const PageInfo& one : pages()) {
    QAction* action = view->addAction(text(one.title));
    action->setShortcuts(sequences(one.keys));
    connect(action, &QAction::triggered, this, [this, page = one.page] { show_page(page); });
  }
  view->addSeparator();
  for (Command command : {Command::kNextPage, Command::kPreviousPage, Command::kToggleRail})
    add_action(view, command);
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
    case Command::kNextPage:
    case Command::kPreviousPage: {
      int step = command == Command::kNextPage ? 1 : pages_->count() - 1;
      return show_page(static_cast<Page>((pages_->currentIndex() + step) % pages_->count()));
    }
    case Command::kToggleRail:
      rail_->setVisible(!rail_->isVisible());
      return;
    case Command::kSearch:
    case Command::kSearchNext:
    case Command::kSearchPrevious:
      show_page(Page::kTimeline);
      break;
    default:
      break;
  }
  if (session_) timeline().run(command);
}

void MainWindow::show_page(Page page) {
  if (!session_) return;
  pages_->setCurrentWidget(&widget(page));
  rail_->setCurrentRow(static_cast<int>(page));
}

void MainWindow::go_to(const Link& link) {
  if (!session_) return;
  show_page(link.page);
  widget(link.page).open(link);
}

PageWidget& MainWindow::widget(Page page) {
  std::size_t index = static_cast<std::size_t>(page);
  PageWidget* widget = static_cast<PageWidget*>(pages_->widget(static_cast<int>(page)));
  if (!filled_[index]) widget->set_session(session_);
  filled_[index] = true;
  return *widget;
}

TimelinePage& MainWindow::timeline() {
  return static_cast<TimelinePage&>(widget(Page::kTimeline));
}

FindingsPage& MainWindow::findings() {
  return static_cast<FindingsPage&>(widget(Page::kFindings));
}

OpsPage& MainWindow::ops() {
  return static_cast<OpsPage&>(widget(Page::kOps));
}

StepsPage& MainWindow::steps() {
  return static_cast<StepsPage&>(widget(Page::kSteps));
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
  // Pages that are not in sight let go of the former trace; they are filled when they are shown.
  for (int i = 0; i < pages_->count(); ++i)
    static_cast<PageWidget*>(pages_->widget(i))->set_session(nullptr);
  filled_.assign(filled_.size(), false);
  banner_->set_session(session_);
  headline_->setText(QString::fromStdString(session_->summary.headline));
  fill_rail();
  setWindowTitle(
      QString::fromStdString(display_text(QFileInfo(path_).fileName().toStdString(), 120)) +
      tr(" – Headway"));
  outer_->setCurrentIndex(1);
  show_page(Page::kSummary);
  if (keep_settings_) remember_file(QFileInfo(path_).absoluteFilePath());
  emit opened();
}

/// The titles of the pages, as wide as they need.
void MainWindow::fill_rail() {
  std::int64_t found = std::count_if(
      session_->analysis.findings.begin(), session_->analysis.findings.end(),
      [](const analyzer::Finding& finding) { return finding.status == analyzer::Status::kFound; });
  for (const PageInfo& one : pages()) {
    QListWidgetItem* item = rail_->item(static_cast<int>(one.page));
    item->setToolTip(QStringLiteral("%1 (%2)").arg(text(one.text), keys_text(one.keys)));
    item->setText(one.page == Page::kFindings && found
                      ? QStringLiteral("%1 (%2)").arg(text(one.title)).arg(found)
                      : text(one.title));
  }
  rail_->setFixedWidth(rail_->sizeHintForColumn(0) + 12);
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
  for (int i = 0; i < pages_->count(); ++i)
    static_cast<PageWidget*>(pages_->widget(i))->set_theme(*theme_);
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
