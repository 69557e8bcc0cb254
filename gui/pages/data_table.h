// SPDX-License-Identifier: MIT
#pragma once

#include <QHBoxLayout>
#include <QLineEdit>
#include <QTableView>
#include <memory>

#include "gui/pages/data_table_model.h"

namespace headway::gui {

class ColumnWidths;
class WrapLabel;

/// Any table of a page: sorted by a click on a heading, filtered by words, columns resized by
/// dragging, copied as text or CSV, saved as CSV; opening a row leads to its event.
class DataTable : public QWidget {
  Q_OBJECT
 public:
  explicit DataTable(const QString& name, QWidget* parent = nullptr);

  /// Null: nothing.
  void set_table(std::shared_ptr<const LinkedTable> table);
  /// Puts a control of the page in front of the filter.
  void add_control(QWidget* control);
  /// For small tables beside others: no filter, no note.
  void set_compact(bool compact);
  /// Selects a row of the table and brings it into sight; drops a filter that hides it.
  void select(std::uint32_t row);
  /// By the row's key, which stays the same when the table is made anew; false when there is no such row.
  bool select_key(const std::string& key);

  QTableView& view() { return *view_; }
  QLineEdit& filter() { return *filter_; }
  DataTableModel& model() { return *model_; }
  /// What the figures are over, and how many rows the filter leaves.
  QString note() const;
  /// The selected rows, or all that are shown when none is.
  analyzer::Table chosen() const;
  void copy(bool as_csv);
  /// Writes all shown rows; an error goes to the reader.
  bool save_csv(const QString& file);

 signals:
  /// A row that is about an event.
  void row_followed(const headway::gui::Target& target);
  /// A row that is about a time, not an event.
  void time_followed(const headway::Interval& time);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  /// `shown`: a row as it is sorted and filtered; likewise below.
  void follow(int shown);
  /// Whether the row has an event or a time to lead to.
  bool can_follow(int shown) const;
  void show_menu(const QPoint& at);
  void ask_for_file();
  void show_note();

  DataTableModel* model_;
  QTableView* view_;
  ColumnWidths* widths_;
  QWidget* bar_;
  QHBoxLayout* controls_;
  QLineEdit* filter_;
  WrapLabel* note_;
};

}  // namespace headway::gui
