// SPDX-License-Identifier: MIT
#pragma once

#include <QAbstractTableModel>
#include <string>
#include <vector>

#include "analyzer/stats/table.h"

namespace headway::gui {

/// An analyzer::Table for a table view: sorted by any column, filtered by the contents of its
/// texts. Columns without values are left out. Qt::EditRole returns raw numbers and the ids of
/// columns.
class ResultTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// Role for a number from -1 to 1 in the column "change_ns": the change divided by the largest
  /// one.
  static constexpr int kChangeRole = Qt::UserRole;

  using QAbstractTableModel::QAbstractTableModel;

  void set_table(analyzer::Table table);
  const analyzer::Table& table() const { return table_; }
  void set_filter(const QString& filter);
  /// Index into Table::rows of a shown row.
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
  std::vector<std::size_t> columns_;  ///< columns that have values
  std::vector<std::size_t> order_;    ///< by shown row: index into Table::rows
  int sorted_by_ = -1;                ///< index into `columns_`; -1: the table's own order
  bool descending_ = true;
  std::string filter_;
  double largest_change_ = 0;
};

}  // namespace headway::gui
