// SPDX-License-Identifier: MIT
#include "gui/pages/export_menu.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QStatusBar>
#include <exception>

#include "common/error.h"
#include "gui/models/search/event_export.h"
#include "gui/models/text/display_text.h"
#include "gui/pages/export.h"
#include "gui/pages/main_window.h"
#include "gui/pages/timeline_page.h"

namespace headway::gui {
namespace {

constexpr int kTellMs = 8000;

std::filesystem::path file_path(const QString& path) {
  return QFile::encodeName(path).toStdString();
}

EventSelection selected_events(MainWindow& window) {
  TimelineView& view = window.timeline().view();
  const Target& target = view.selection();
  EventSelection selection{view.range()};
  if (!selection.time.empty()) return selection;
  selection.time = view.mapping().visible();
  if (target.kind == Target::Kind::kEvent)
    selection.name = analyzer::name_of(window.session()->trace, target.event);
  return selection;
}

}  // namespace

std::function<void()> csv_export(MainWindow& window, const std::filesystem::path& file) {
  if (!window.session()) fail_usage("{}: no trace to take a table from.", file.string());
  if (window.page() == Page::kTimeline) {
    // Keeps the session alive, because the selection refers to its texts.
    return [session = window.session(), selection = selected_events(window), file] {
      export_text(file, [&](const auto& write) { write_events_csv(*session, selection, write); });
    };
  }
  std::optional<analyzer::Table> table = table_in_sight(window.widget(window.page()));
  if (!table)
    fail_usage("{}: the page {} shows no table. The timeline and the pages with tables do.",
               file.string(), info(window.page()).title);
  return [table = std::move(*table), file] {
    export_text(file, [&](const auto& write) { write(analyzer::to_csv(table)); });
  };
}

ExportMenu::ExportMenu(MainWindow& window, QMenu* menu) : QObject(&window), window_(window) {
  auto add = [&](const QString& text, auto act) {
    QAction* action = menu->addAction(text);
    connect(action, &QAction::triggered, this, act);
    return action;
  };
  const QString pictures = tr("Pictures (*.png *.svg)");
  QAction* page = add(tr("Export a &picture of this page …"), [this, pictures] {
    QString file = ask(tr("Export a picture of this page"), QStringLiteral("png"), pictures);
    if (!file.isEmpty()) export_page(file);
  });
  QAction* timeline = add(tr("Export a picture of the &timeline alone …"), [this, pictures] {
    QString file = ask(tr("Export a picture of the timeline"), QStringLiteral("png"), pictures);
    if (!file.isEmpty()) export_timeline(file);
  });
  selection_ = add(tr("Export the &selection or table as CSV …"), [this] {
    QString file = ask(tr("Export as CSV"), QStringLiteral("csv"), tr("Tables (*.csv)"));
    if (!file.isEmpty()) export_selection(file);
  });
  connect(menu, &QMenu::aboutToShow, this, [this, page, timeline] {
    bool any = window_.session() != nullptr;
    for (QAction* action : {page, timeline}) action->setEnabled(any);
    selection_->setEnabled(any && !writer_.joinable());
  });
}

ExportMenu::~ExportMenu() {
  if (writer_.joinable()) writer_.join();
}

QString ExportMenu::ask(const QString& title, const QString& ending, const QString& filter) {
  QString file = QFileDialog::getSaveFileName(&window_, title, {}, filter);
  if (!file.isEmpty() && QFileInfo(file).suffix().isEmpty()) file += '.' + ending;
  return file;
}

void ExportMenu::guarded(const QString& file, const std::function<void()>& work) {
  QString error;
  try {
    work();
  } catch (const std::exception& failure) {
    error = QString::fromUtf8(failure.what());
  }
  tell(file, error);
}

void ExportMenu::export_page(const QString& file) {
  guarded(file, [&] { export_picture(*window_.centralWidget(), file_path(file)); });
}

void ExportMenu::export_timeline(const QString& file) {
  window_.show_page(Page::kTimeline);
  guarded(file, [&] { export_picture(window_.timeline().view(), file_path(file)); });
}

void ExportMenu::export_selection(const QString& file) {
  if (writer_.joinable()) return;  // an export is running; the entry is disabled meanwhile
  std::function<void()> work;
  try {
    work = csv_export(window_, file_path(file));
  } catch (const Error& error) {
    return tell(file, QString::fromUtf8(error.what()));
  }
  writer_ = std::thread([this, work = std::move(work), file] {
    QString error;
    try {
      work();
    } catch (const std::exception& failure) {
      error = QString::fromUtf8(failure.what());
    }
    QMetaObject::invokeMethod(
        this,
        [this, file, error] {
          writer_.join();
          tell(file, error);
        },
        Qt::QueuedConnection);
  });
}

/// Shows a temporary line for success, and a message box for an error.
void ExportMenu::tell(const QString& file, const QString& error) {
  if (error.isEmpty()) {
    QStatusBar* bar = window_.statusBar();
    bar->show();
    connect(bar, &QStatusBar::messageChanged, bar, [bar](const QString& text) {
      if (text.isEmpty()) bar->hide();
    });
    bar->showMessage(
        tr("Wrote %1").arg(QString::fromStdString(display_text(file.toStdString(), 200))), kTellMs);
  } else {
    QMessageBox* box = new QMessageBox(QMessageBox::Warning, tr("Nothing was written"), {},
                                       QMessageBox::Ok, &window_);
    box->setTextFormat(Qt::PlainText);
    box->setText(QString::fromStdString(display_text(error.toStdString(), 1000)));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
  }
  emit finished(file, error);
}

}  // namespace headway::gui
