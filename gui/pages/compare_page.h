// SPDX-License-Identifier: MIT
#pragma once

#include <QComboBox>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>
#include <memory>

#include "gui/pages/change_waterfall.h"
#include "gui/pages/compare_timelines.h"
#include "gui/pages/page_widget.h"
#include "gui/pages/result_table_model.h"
#include "gui/pages/trace_loader.h"
#include "gui/timeline/background_task.h"

namespace headway::gui {

class ColumnWidths;

/// The open trace (A) beside a second one (B): the verdict of `headway diff`, the timelines with
/// their steps aligned, and what changed per class of time, op and kernel.
class ComparePage : public PageWidget {
  Q_OBJECT
 public:
  explicit ComparePage(QWidget* parent = nullptr);

  /// Sets the first trace. A second trace stays open when the first is replaced.
  void set_session(std::shared_ptr<const Session> session) override;
  /// The page is unchanged until the grown trace is compared.
  void update_session(std::shared_ptr<const Session> session) override;
  void set_theme(const Theme& theme) override;

  /// Opens the second trace in the background; it replaces a former second trace.
  void open_second(const std::filesystem::path& path, const analyzer::AnalysisOptions& options);
  /// Closes the second trace and frees its memory.
  void close_second();
  /// Null until both traces are open and compared.
  const std::shared_ptr<const SessionPair>& pair() const { return pair_; }
  CompareTimelines& timelines() { return *timelines_; }
  ChangeWaterfall& waterfall() { return *waterfall_; }
  QTableView& table() { return *table_; }
  ResultTableModel& model() { return *model_; }
  QComboBox& choice() { return *choice_; }
  QString verdict() const { return verdict_->text(); }
  QString message() const { return message_->text(); }

 signals:
  /// The user asks for a second trace without naming one; with second_dropped() by dropping a file.
  void second_wanted();
  void second_dropped(const QString& path);
  /// Both traces are open and the page shows what changed.
  void compared();
  void second_failed(const QString& message, headway::ExitCode code);

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  /// Shown without a pair: an invitation, the progress, or an error.
  QWidget* waiting();
  QWidget* comparison();
  QWidget* heading();
  QWidget* changes();
  /// Starts a comparison when both traces are open and analysed; drops the former comparison first.
  void make_pair();
  /// Compares on another thread; the page is unchanged until then.
  void start_pair();
  void show_pair(std::shared_ptr<const SessionPair> pair);
  void show_message(const QString& title, const QString& text, bool busy);
  void show_invitation();
  /// Shows the changes by class, op or kernel: the choice with this index.
  void show_table(int index);
  /// Moves both timelines to the target of a row.
  void follow_row(int row);

  std::shared_ptr<const Session> first_;
  std::shared_ptr<const Session> second_;
  std::shared_ptr<const SessionPair> pair_;
  const Theme* theme_ = &Theme::light();
  QString second_path_;  ///< of B, as the user gave it
  TraceLoader* loader_;  ///< of B
  BackgroundTask* task_;
  QStackedWidget* stack_;
  // Widgets shown without a comparison.
  WrapLabel* title_ = nullptr;
  WrapLabel* message_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QPushButton* open_ = nullptr;
  QPushButton* cancel_ = nullptr;
  // Widgets of the comparison.
  WrapLabel* verdict_ = nullptr;
  WrapLabel* doubts_ = nullptr;
  WrapLabel* findings_ = nullptr;
  CompareTimelines* timelines_ = nullptr;
  ChangeWaterfall* waterfall_ = nullptr;
  WrapLabel* no_classes_ = nullptr;
  QComboBox* choice_ = nullptr;
  QLineEdit* filter_ = nullptr;
  WrapLabel* note_ = nullptr;
  ResultTableModel* model_ = nullptr;
  QTableView* table_ = nullptr;
  ColumnWidths* widths_ = nullptr;
};

}  // namespace headway::gui
