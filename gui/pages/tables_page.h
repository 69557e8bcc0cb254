// SPDX-License-Identifier: MIT
#pragma once

#include <QComboBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTreeWidget>
#include <filesystem>
#include <memory>

#include "gui/models/tables/sql.h"
#include "gui/pages/computed_page.h"

namespace headway::gui {

class DataTable;

/// The tables of the trace file as stored, and an input for read-only SQL.
class TablesPage : public ComputedPage {
  Q_OBJECT
 public:
  explicit TablesPage(QWidget* parent = nullptr);
  ~TablesPage() override;

  void set_theme(const Theme& theme) override;
  bool needs_analysis() const override { return false; }
  QTreeWidget& tables() { return *tree_; }
  QPlainTextEdit& sql() { return *sql_; }
  DataTable& result() { return *result_; }
  QString status() const;
  /// Runs the query in the input.
  void run();
  void stop();
  bool is_querying() const { return query_->is_running(); }

 protected:
  BackgroundTask::Work make_work() override;
  void clear() override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  QLayout* make_editor();
  void show_tables(const std::vector<SqlTable>& tables);
  /// For traces that are not SQLite files: offers to create one.
  void offer_database();
  void make_database();
  void run_text(const QString& sql);
  /// Runs on another thread. `preview_of`: the table to preview; empty: the user typed the query.
  void start_query(const QString& sql, const QString& preview_of);
  void show_answer(const std::shared_ptr<const SqlAnswer>& answer);
  void show_status(const QString& text, bool error);
  /// Puts the query on top of the history of this session.
  void remember(const QString& sql);

  QTreeWidget* tree_;
  QPlainTextEdit* sql_;
  QPushButton* run_;
  QPushButton* stop_;
  QPushButton* make_;
  QComboBox* examples_;
  QComboBox* history_;
  WrapLabel* status_;
  DataTable* result_;
  BackgroundTask* query_;
  const Theme* theme_ = &Theme::light();
  bool failed_ = false;         ///< the status is an error
  std::filesystem::path file_;  ///< file that queries run on; empty: none
  std::unique_ptr<QTemporaryDir> temporary_;
};

}  // namespace headway::gui
