// SPDX-License-Identifier: MIT
#include "gui/pages/main_menus.h"

#include <QApplication>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>

#include "gui/models/text/display_text.h"
#include "gui/models/window/menus.h"
#include "gui/models/window/pages.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/export_menu.h"
#include "gui/pages/guide_dialog.h"
#include "gui/pages/main_window.h"
#include "gui/timeline/key_bindings.h"

namespace headway::gui {
namespace {

QString qt_text(std::string_view view) {
  return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

}  // namespace

MainMenus::MainMenus(MainWindow& window, bool keep_settings) : QObject(&window), window_(window) {
  build_file(keep_settings);
  build_view();
  build_timeline();
  build_help();
  set_trace_open(false);
}

/// Adds an entry whose key works in the whole window.
QAction* MainMenus::add_action(QMenu* menu, Command command) {
  QAction* action = menu->addAction(QString::fromStdString(menu_text(command)));
  action->setShortcuts(sequences(command));
  connect(action, &QAction::triggered, this, [this, command] { window_.run(command); });
  return action;
}

/// Adds an entry that shows a key of the timeline but does not bind it, so that letters can be
/// typed in other widgets.
void MainMenus::add_hint(QMenu* menu, Command command) {
  QAction* action =
      menu->addAction(QString::fromStdString(menu_text(command)) + '\t' + keys_text(command));
  connect(action, &QAction::triggered, this, [this, command] {
    window_.show_page(Page::kTimeline);
    window_.run(command);
  });
  needs_trace_.push_back(action);
}

void MainMenus::build_file(bool keep_settings) {
  QMenu* file = window_.menuBar()->addMenu(tr("&File"));
  add_action(file, Command::kOpen);
  recent_ = file->addMenu(tr("Open &recent"));
  connect(recent_, &QMenu::aboutToShow, this, &MainMenus::fill_recent);
  file->addSeparator();
  QAction* second = file->addAction(tr("&Compare with a second trace …"));
  connect(second, &QAction::triggered, this, [this] { emit window_.compare().second_wanted(); });
  needs_trace_.push_back(second);
  file->addSeparator();
  const qsizetype before = file->actions().size();
  exports_ = new ExportMenu(window_, file);
  for (QAction* action : file->actions().mid(before)) needs_trace_.push_back(action);
  file->addSeparator();
  QAction* cache = file->addAction(tr("&Cache large traces"));
  cache->setCheckable(true);
  cache->setChecked(QSettings().value(QStringLiteral("cache"), true).toBool());
  cache->setEnabled(keep_settings);
  connect(cache, &QAction::toggled, this,
          [](bool keep) { QSettings().setValue(QStringLiteral("cache"), keep); });
  file->addSeparator();
  add_action(file, Command::kQuit);
}

void MainMenus::build_view() {
  QMenu* view = window_.menuBar()->addMenu(tr("&View"));
  for (const PageInfo& one : pages()) {
    QAction* action = view->addAction(qt_text(one.title));
    action->setShortcuts(sequences(one.keys));
    connect(action, &QAction::triggered, this,
            [this, page = one.page] { window_.show_page(page); });
    needs_trace_.push_back(action);
  }
  view->addSeparator();
  for (Command command : {Command::kNextPage, Command::kPreviousPage, Command::kToggleRail})
    needs_trace_.push_back(add_action(view, command));
  view->addSeparator();
  dark_ = view->addAction(tr("&Dark colours"));
  dark_->setCheckable(true);
  connect(dark_, &QAction::triggered, this, &MainMenus::dark_wanted);
}

void MainMenus::build_timeline() {
  QMenu* timeline = window_.menuBar()->addMenu(tr("&Timeline"));
  auto is_general = [](Command command) {
    return shortcut(command).group == shortcuts().front().group;
  };
  for (const Submenu& one : timeline_submenus()) {
    if (one.title.empty()) timeline->addSeparator();
    QMenu* menu = one.title.empty() ? timeline : timeline->addMenu(qt_text(one.title));
    for (Command command : one.commands) {
      if (is_general(command)) {
        needs_trace_.push_back(add_action(menu, command));
      } else {
        add_hint(menu, command);
      }
    }
  }
}

void MainMenus::build_help() {
  QMenu* help = window_.menuBar()->addMenu(tr("&Help"));
  connect(help->addAction(tr("&User guide")), &QAction::triggered, this, &MainMenus::show_guide);
  QAction* keys = add_action(help, Command::kHelp);
  keys->setText(tr("&Keyboard shortcuts"));
  help->addSeparator();
  connect(help->addAction(tr("&About Headway")), &QAction::triggered, this, &MainMenus::show_about);
}

void MainMenus::set_trace_open(bool open) {
  for (QAction* action : needs_trace_) action->setEnabled(open);
}

void MainMenus::fill_recent() {
  recent_->clear();
  for (const QString& file : window_.recent_files()) {
    // An ampersand in a file name must not become a shortcut.
    QString shown = QString::fromStdString(display_text(file.toStdString(), 90));
    QAction* action = recent_->addAction(shown.replace('&', QStringLiteral("&&")));
    connect(action, &QAction::triggered, this, [this, file] { emit file_wanted(file); });
  }
  if (recent_->isEmpty()) recent_->addAction(tr("No recent files"))->setEnabled(false);
}

void MainMenus::show_guide() {
  if (!guide_) guide_ = new GuideDialog(&window_);
  guide_->show_page(QStringLiteral("view.md"));
}

void MainMenus::show_about() {
  QMessageBox* box = new QMessageBox(&window_);
  box->setObjectName(QStringLiteral("about"));
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->setWindowTitle(tr("About Headway"));
  box->setTextFormat(Qt::PlainText);
  const QString version = QApplication::applicationVersion();
  box->setText(version.isEmpty() ? tr("Headway") : tr("Headway %1").arg(version));
  box->setInformativeText(tr("Headway shows what limits each training step, by how much, and what "
                             "to change.\n\nMIT licence. Uses Qt %1.")
                              .arg(QString::fromUtf8(qVersion())));
  box->open();
}

}  // namespace headway::gui
