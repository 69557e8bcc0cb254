// SPDX-License-Identifier: MIT
#pragma once

#include <QAbstractTableModel>
#include <string>
#include <vector>

#include "analyzer/stats/table.h"

namespace headway::gui {

/// A table of results (analyzer::Table) for a table view: sorted by any column, filtered by what
/// its texts contain, one row per row. Columns that hold nothing are left out. Under Qt::EditRole:
/// raw numbers, and the ids of columns.
class ResultTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// Role of a number from -1 to 1 on the column "change_ns": the change beside the largest one.
  static constexpr int kChangeRole = Qt::UserRole;

  using QAbstractTableModel::QAbstractTableModel;

  void set_table(analyzer::Table table);
  const analyzer::Table& table() const { return table_; }
  void set_filter(const QString& filter);
  /// Index into Table::rows of a row that is shown.
  std::size_t source_row(int row) const { return order_[static_cast<std::size_t>(row)]; }
  bool is_numeric(int column) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  /// Column -1: the table's own order.
  void sort(int column, Qt::SortOrder order) override;

 private:
  void arrange();
  const analyzer::Column& column_at(int column) const;
  std::string text_of(std::size_t row, std::size_t column) const;

  analyzer::Table table_;
  std::vector<std::size_t> columns_;  ///< those that hold something
  std::vector<std::size_t> order_;    ///< by row that is shown: index into Table::rows
  int sorted_by_ = -1;                ///< index into `columns_`; -1: the table's own order
  bool descending_ = true;
  std::string filter_;
  double largest_change_ = 0;
};

}  // namespace headway::gui
