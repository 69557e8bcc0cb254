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

/// Collects the selection of the visible page and returns a function that writes it as CSV on any
/// thread. On the timeline: the events of the selected time, else those with the selected event's
/// name, else the visible ones. On other pages: the table as it is sorted and filtered. Throws
/// Error(kUsage) for pages without a table; the returned function throws as `export_text` does.
std::function<void()> csv_export(MainWindow& window, const std::filesystem::path& file);

/// The entries of the File menu that write pictures and tables, with their dialogues. Tables are
/// written on a separate thread.
class ExportMenu : public QObject {
  Q_OBJECT
 public:
  ExportMenu(MainWindow& window, QMenu* menu);
  /// Waits for the current export.
  ~ExportMenu() override;

  /// Called by the entries once a file is chosen; errors appear in a message box.
  void export_page(const QString& file);
  void export_timeline(const QString& file);
  void export_selection(const QString& file);

 signals:
  /// An export ended; `error` is empty or says why it failed.
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
