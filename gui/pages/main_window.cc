// SPDX-License-Identifier: MIT
#include "gui/pages/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMimeData>
#include <QSettings>
#include <QSplitter>
#include <QStandardPaths>
#include <QVBoxLayout>

#include "common/format.h"
#include "gui/models/opening/memory_room.h"
#include "gui/models/opening/trace_cache.h"
#include "gui/models/text/display_text.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/doubts_banner.h"
#include "gui/pages/findings_page.h"
#include "gui/pages/help_overlay.h"
#include "gui/pages/labels.h"
#include "gui/pages/main_menus.h"
#include "gui/pages/ops_page.h"
#include "gui/pages/start_page.h"
#include "gui/pages/steps_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/pages/waiting_page.h"
#include "gui/timeline/key_bindings.h"

namespace headway::gui {
namespace {

constexpr int kMostRecent = 8;

QString text(std::string_view view) {
  return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

std::filesystem::path file_path(const QString& path) {
  return QFile::encodeName(path).toStdString();
}

/// The folder for bookmarks belongs to the user, not to the trace: traces are only read.
std::filesystem::path bookmark_folder() {
  QString data = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
  if (data.isEmpty()) return {};
  return std::filesystem::path(QFile::encodeName(data).toStdString()) / "bookmarks";
}

PageWidget* make_page(Page page) {
  switch (page) {
#define HEADWAY_PAGE(value, id, title, keys, text) \
  case Page::value:                                \
    return make_##id##_page();
    HEADWAY_PAGES(HEADWAY_PAGE)
#undef HEADWAY_PAGE
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
  menus_ = new MainMenus(*this, keep_settings_);
  connect_pages();
  resize(1440, 900);
  set_dark(QApplication::palette().color(QPalette::Window).lightness() < 128);
  if (keep_settings_) restore_settings();
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
  headline_->setObjectName(QStringLiteral("headline"));
  headline_->set_single_line(true);
  headline_->setContentsMargins(14, 6, 14, 6);
  analysis_ = new QPushButton;
  analysis_->setFlat(true);
  analysis_->hide();
  pages_ = new QStackedWidget;
  for (const PageInfo& one : pages()) {
    PageWidget* widget = make_page(one.page);
    connect(widget, &PageWidget::followed, this, &MainWindow::go_to);
    if (one.page == Page::kTimeline && keep_settings_)
      static_cast<TimelinePage*>(widget)->keep_bookmarks_in(bookmark_folder());
    pages_->addWidget(widget);
    rail_->addItem(text(one.title));
  }
  pages_->addWidget(waiting_ = new WaitingPage);
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
  QHBoxLayout* top = new QHBoxLayout;
  top->addWidget(headline_, 1);
  top->addWidget(analysis_);
  right->addLayout(top);
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
  connect(menus_, &MainMenus::file_wanted, this, &MainWindow::open_file);
  connect(menus_, &MainMenus::dark_wanted, this, [this](bool dark) {
    set_dark(dark);
    if (keep_settings_) QSettings().setValue(QStringLiteral("dark"), dark);
  });
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
      // Work behind the former trace ended when another trace was opened.
      progress_.clear();
      show_headline();
    } else {
      show_welcome();
    }
  });
  connect(start_, &StartPage::way_out_wanted, this, &MainWindow::open_stretch);
  connect(waiting_, &WaitingPage::timeline_wanted, this, [this] { show_page(Page::kTimeline); });
  connect(analysis_, &QPushButton::clicked, this, &MainWindow::stop_or_start_analysis);
  connect(loader_, &TraceLoader::progressed, this, &MainWindow::show_progress);
  connect(loader_, &TraceLoader::looked, this, [this](std::shared_ptr<const Session> session) {
    show_session(std::move(session));
    emit looked();
  });
  connect(loader_, &TraceLoader::loaded, this, [this](std::shared_ptr<const Session> session) {
    bool known = session_ && session_->trace_owner == session->trace_owner;
    known ? update_session(std::move(session)) : show_session(std::move(session));
    emit opened();
  });
  connect(loader_, &TraceLoader::grown, this, [this](std::shared_ptr<const Session> session) {
    stalled_ = false;
    update_session(std::move(session));
    emit grown();
  });
  connect(loader_, &TraceLoader::stalled, this, [this] {
    stalled_ = true;
    show_headline();
  });
  connect(loader_, &TraceLoader::failed, this, &MainWindow::show_error);
  connect(&compare(), &ComparePage::second_wanted, this, [this] {
    QString file = ask_for_trace(tr("Open a second trace"));
    if (!file.isEmpty()) compare_with(file_path(file));
  });
  connect(&compare(), &ComparePage::second_dropped, this,
          [this](const QString& file) { compare_with(file_path(file)); });
  connect(headline_, &LinkLabel::followed, this, [this] {
    if (session_ && session_->analysed) go_to({.page = Page::kFindings, .finding = 0});
  });
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
      int count = static_cast<int>(pages().size());
      int step = command == Command::kNextPage ? 1 : count - 1;
      return show_page(static_cast<Page>((static_cast<int>(page_) + step) % count));
    }
    case Command::kToggleRail:
      rail_->setVisible(rail_->isHidden());
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
  page_ = page;
  PageWidget& shown = widget(page);
  bool waits = shown.needs_analysis() && !session_->analysed;
  pages_->setCurrentWidget(waits ? static_cast<QWidget*>(waiting_) : &shown);
  rail_->setCurrentRow(static_cast<int>(page));
}

void MainWindow::go_to(const Link& link) {
  if (!session_) return;
  show_page(link.page);
  if (filled_[static_cast<std::size_t>(link.page)]) widget(link.page).open(link);
}

PageWidget& MainWindow::widget(Page page) {
  std::size_t index = static_cast<std::size_t>(page);
  PageWidget* widget = static_cast<PageWidget*>(pages_->widget(static_cast<int>(page)));
  bool waits = session_ && !session_->analysed && widget->needs_analysis();
  if (!filled_[index] && !waits) {
    widget->set_session(session_);
    filled_[index] = true;
  }
  return *widget;
}

ExportMenu& MainWindow::exports() {
  return menus_->exports();
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

ComparePage& MainWindow::compare() {
  return *static_cast<ComparePage*>(pages_->widget(static_cast<int>(Page::kCompare)));
}

/// Asks for a file; empty: the user cancelled.
QString MainWindow::ask_for_trace(const QString& title) {
  QString folder = path_.isEmpty() ? QString() : QFileInfo(path_).path();
  return QFileDialog::getOpenFileName(
      this, title, folder,
      tr("Traces (*.sqlite *.sqlite3 *.db *.json *.json.gz *.xplane.pb "
         "*.xplane.pb.gz *.zip);;"
         "All files (*)"));
}

void MainWindow::choose_file() {
  QString file = ask_for_trace(tr("Open a trace"));
  if (!file.isEmpty()) open_file(file);
}

void MainWindow::open_file(const QString& path) {
  open(file_path(path));
}

void MainWindow::compare_with(const std::filesystem::path& path) {
  // While the first trace is loading, the pages still belong to the former trace.
  compare_when_open_ = outer_->currentIndex() == 0;
  if (!compare_when_open_) show_page(Page::kCompare);
  compare().open_second(path, analysis_options_);
}

void MainWindow::open(const std::filesystem::path& path) {
  OpenRequest request;
  request.source.files = {path};
  open(std::move(request));
}

void MainWindow::open(OpenRequest request) {
  request.analysis = analysis_options_;
  bool cached =
      cache_allowed_ && keep_settings_ && QSettings().value(QStringLiteral("cache"), true).toBool();
  if (cached && request.source.cache_folder.empty())
    request.source.cache_folder = TraceCache::default_folder();
  const auto& files = request.source.files;
  path_ =
      files.empty() ? QString() : QFile::decodeName(QByteArray::fromStdString(files[0].string()));
  pending_ = std::move(request);
  start_->show_loading(files_text());
  outer_->setCurrentIndex(0);
  compare().close_second();
  compare_when_open_ = false;
  loader_->start(pending_);
}

void MainWindow::show_session(std::shared_ptr<const Session> session) {
  std::shared_ptr<const Session> old = std::exchange(session_, std::move(session));
  // Pages that are not visible release the former trace; they are filled when they are shown.
  for (std::size_t i = 0; i < filled_.size(); ++i)
    static_cast<PageWidget*>(pages_->widget(static_cast<int>(i)))->set_session(nullptr);
  filled_.assign(filled_.size(), false);
  menus_->set_trace_open(session_ != nullptr);
  banner_->set_session(session_);
  loader_->dispose(std::move(old));
  request_ = pending_;
  stalled_ = false;
  progress_ = tr("Analysing");
  show_headline();
  fill_rail();
  setWindowTitle(
      QString::fromStdString(display_text(QFileInfo(path_).fileName().toStdString(), 120)) +
      tr(" – Headway"));
  outer_->setCurrentIndex(1);
  Page first = session_->analysed && !request_.follow ? Page::kSummary : Page::kTimeline;
  show_page(compare_when_open_ ? Page::kCompare : first);
  if (keep_settings_) remember_file(QFileInfo(path_).absoluteFilePath());
}

/// Replaces the session by a later one of the same trace; the user's position stays.
void MainWindow::update_session(std::shared_ptr<const Session> session) {
  std::shared_ptr<const Session> old = std::exchange(session_, std::move(session));
  for (std::size_t i = 0; i < filled_.size(); ++i) {
    if (!filled_[i]) continue;
    PageWidget* widget = static_cast<PageWidget*>(pages_->widget(static_cast<int>(i)));
    // Hidden pages are filled when they are shown; of these only the timeline has a position to
    // keep.
    bool keeps_place = !widget->needs_analysis() || i == static_cast<std::size_t>(page_);
    keeps_place ? widget->update_session(session_) : widget->set_session(nullptr);
    filled_[i] = keeps_place;
  }
  banner_->set_session(session_);
  loader_->dispose(std::move(old));
  show_headline();
  fill_rail();
  show_page(page_);
}

/// Shows the verdict, or what the user must know before it.
void MainWindow::show_headline() {
  QString text = QString::fromStdString(session_->summary.headline);
  if (!session_->analysed) {
    text = progress_.isEmpty() ? tr("Not analysed: the timeline shows the recording.")
                               : tr("%1 … The timeline is ready.").arg(progress_);
  }
  // The step cost changes during a recording, and the first cause may change too.
  const DurationNs cost = session_->analysis.step_cost.per_step();
  if (request_.follow && session_->analysed && cost.ns > 0)
    text += tr(" – step cost %1").arg(QString::fromStdString(format_duration(cost)));
  if (request_.follow && session_->recording) {
    text = (stalled_ ? tr("No new data for a while – %1") : tr("Recording … – %1")).arg(text);
  } else if (request_.follow) {
    text = tr("The recording has ended – %1").arg(text);
  }
  headline_->setText(text);
  analysis_->setVisible(!session_->analysed);
  analysis_->setText(progress_.isEmpty() ? tr("&Analyse") : tr("&Cancel"));
  waiting_->show_state(progress_);
}

void MainWindow::show_progress(const QString& what, double share) {
  start_->show_progress(what, share);
  if (!session_ || session_->analysed || outer_->currentIndex() == 0) return;
  // The first look is shown when the progress is 0.6.
  int percent = static_cast<int>(std::clamp((share - 0.6) / 0.4, 0.0, 1.0) * 100);
  progress_ = tr("%1, %2 %").arg(what).arg(percent);
  show_headline();
}

void MainWindow::stop_or_start_analysis() {
  if (progress_.isEmpty()) return open(request_);
  loader_->cancel();
  progress_.clear();
  show_headline();
}

/// The names of the open files, as on the start page.
QString MainWindow::files_text() const {
  std::size_t files = pending_.source.files.size();
  return files > 1 ? tr("%1 and %2 more").arg(path_).arg(files - 1) : path_;
}

void MainWindow::open_stretch() {
  OpenRequest request = pending_;
  request.source.stretch = stretch_;
  open(std::move(request));
}

/// Adds the page titles to the rail, which becomes as wide as they need.
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

void MainWindow::show_error(const QString& message, ExitCode code, Interval stretch) {
  stretch_ = stretch;
  QString way_out;
  if (!stretch.empty()) way_out = tr("Open %1").arg(text(stretch_text(stretch)));
  start_->show_error(files_text(), message, way_out);
  outer_->setCurrentIndex(0);
  emit open_failed(message, code);
}

void MainWindow::show_welcome() {
  start_->show_welcome(recent_files());
  outer_->setCurrentIndex(0);
}

void MainWindow::set_dark(bool dark) {
  theme_ = dark ? &Theme::dark_theme() : &Theme::light();
  menus_->set_dark(dark);
  apply_theme();
}

void MainWindow::apply_theme() {
  QApplication::setPalette(theme_->palette());
  setStyleSheet(theme_->style_sheet());
  for (std::size_t i = 0; i < filled_.size(); ++i)
    static_cast<PageWidget*>(pages_->widget(static_cast<int>(i)))->set_theme(*theme_);
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

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  bool files =
      std::all_of(urls.begin(), urls.end(), [](const QUrl& url) { return url.isLocalFile(); });
  if (files && !urls.isEmpty()) event->acceptProposedAction();
}

/// Two dropped traces are compared; more are opened as the ranks of a job.
void MainWindow::dropEvent(QDropEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  OpenRequest request;
  for (const QUrl& url : urls) {
    if (url.isLocalFile()) request.source.files.push_back(file_path(url.toLocalFile()));
  }
  if (request.source.files.empty()) return;
  if (urls.size() == 2) request.source.files.pop_back();
  open(std::move(request));
  if (urls.size() == 2) compare_with(file_path(urls.back().toLocalFile()));
}

/// Qt ignores invalid values, as in a damaged settings file.
void MainWindow::restore_settings() {
  QSettings settings;
  set_dark(settings.value(QStringLiteral("dark"), is_dark()).toBool());
  restoreGeometry(settings.value(QStringLiteral("geometry")).toByteArray());
  rail_->setVisible(settings.value(QStringLiteral("rail"), true).toBool());
  for (QSplitter* splitter : findChildren<QSplitter*>()) {
    if (!splitter->objectName().isEmpty())
      splitter->restoreState(settings.value("splitter/" + splitter->objectName()).toByteArray());
  }
}

void MainWindow::save_settings() const {
  QSettings settings;
  settings.setValue(QStringLiteral("geometry"), saveGeometry());
  settings.setValue(QStringLiteral("rail"), !rail_->isHidden());
  for (QSplitter* splitter : findChildren<QSplitter*>()) {
    if (!splitter->objectName().isEmpty())
      settings.setValue("splitter/" + splitter->objectName(), splitter->saveState());
  }
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (keep_settings_) save_settings();
  QMainWindow::closeEvent(event);
}

}  // namespace headway::gui
