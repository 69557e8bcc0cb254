// SPDX-License-Identifier: MIT
#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "gui/models/tables/linked_table.h"

namespace headway::gui {

/// A LinkedTable for a table view: sorted and filtered. Texts are made for visible rows only.
/// Qt::EditRole returns raw values and column ids.
class DataTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// Role for a number from 0 to 1 for a bar: the cell divided by the column's largest value.
  static constexpr int kShareRole = Qt::UserRole;

  using QAbstractTableModel::QAbstractTableModel;

  /// Null: empty.
  void set_table(std::shared_ptr<const LinkedTable> table);
  const std::shared_ptr<const LinkedTable>& table() const { return table_; }
  /// Rows whose texts contain all words; empty: all rows.
  void set_filter(const QString& filter);
  const Arrangement& arrangement() const { return how_; }
  /// Row numbers of the table in the order shown.
  const std::vector<std::uint32_t>& order() const { return order_; }
  /// The row of the table that is shown at `row`.
  std::uint32_t source(int row) const { return order_[static_cast<std::size_t>(row)]; }
  /// Where a row of the table is shown; -1 when it is filtered out.
  int shown_at(std::uint32_t source) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  void arrange();

  std::shared_ptr<const LinkedTable> table_;
  std::vector<std::uint32_t> order_;  ///< by shown row: row of the table
  Arrangement how_;
  double largest_ = 0;  ///< largest value of the bar column
};

}  // namespace headway::gui
