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

/// A table of a page: a click on a heading sorts, words filter, columns can be resized. Rows can be
/// copied as text or CSV and saved as CSV; opening a row goes to its event.
class DataTable : public QWidget {
  Q_OBJECT
 public:
  explicit DataTable(const QString& name, QWidget* parent = nullptr);

  /// Null: empty.
  void set_table(std::shared_ptr<const LinkedTable> table);
  /// Puts a control of the page in front of the filter.
  void add_control(QWidget* control);
  /// For small tables beside others: without filter and note.
  void set_compact(bool compact);
  /// Selects a row of the table and scrolls to it; removes a filter that hides it.
  void select(std::uint32_t row);
  /// Selects by the row's key, which survives an update of the table; false if there is no such
  /// row.
  bool select_key(const std::string& key);

  QTableView& view() { return *view_; }
  QLineEdit& filter() { return *filter_; }
  DataTableModel& model() { return *model_; }
  /// What the figures cover, and how many rows pass the filter.
  QString note() const;
  /// The selected rows, or all shown rows if none is selected.
  analyzer::Table chosen() const;
  void copy(bool as_csv);
  /// Writes all shown rows; an error is shown to the user. Returns false on an error.
  bool save_csv(const QString& file);

 signals:
  /// The user opened a row about an event.
  void row_followed(const headway::gui::Target& target);
  /// The user opened a row about a time range.
  void time_followed(const headway::Interval& time);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  /// `shown`: index of a row as sorted and filtered; likewise below.
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
