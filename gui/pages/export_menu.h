// SPDX-License-Identifier: MIT
#pragma once

#include <QMenu>
#include <QObject>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

namespace headway::gui {

class MainWindow;

/// Collects what the page in sight has selected and gives the work of writing it as CSV, which may
/// be done on any thread: on the timeline the events of the selected time, else those of the
/// selected event's name, else those in sight; on other pages the table as it is sorted and
/// filtered. Throws Error(kUsage) for pages without a table; the work throws as `export_text` does.
std::function<void()> csv_export(MainWindow& window, const std::filesystem::path& file);

/// The entries of the File menu that write pictures and tables, with their dialogues. Tables are
/// written on a thread of their own.
class ExportMenu : public QObject {
  Q_OBJECT
 public:
  ExportMenu(MainWindow& window, QMenu* menu);
  /// Waits for what is being written.
  ~ExportMenu() override;

  /// What the entries do once a file is chosen; errors are told in a box of words.
  void export_page(const QString& file);
  void export_timeline(const QString& file);
  void export_selection(const QString& file);

 signals:
  /// Something was written, or not: then `error` says why.
  void finished(const QString& file, const QString& error);

 private:
  void tell(const QString& file, const QString& error);
  QString ask(const QString& title, const QString& ending, const QString& filter);
  void guarded(const QString& file, const std::function<void()>& work);

  MainWindow& window_;
  std::thread writer_;
  QAction* selection_ = nullptr;
};

}  // namespace headway::gui
