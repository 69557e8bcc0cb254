// SPDX-License-Identifier: MIT
#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "gui/models/op_table.h"

namespace headway::gui {

/// An OpTable for a table view: sorted and filtered, one row per line.
class OpTableModel : public QAbstractTableModel {
  Q_OBJECT
 public:
  /// Role of a number from 0 to 1: the line's share beside the largest, for a bar.
  static constexpr int kShareRole = Qt::UserRole;

  using QAbstractTableModel::QAbstractTableModel;

  void set_table(OpTable table);
  const OpTable& table() const { return table_; }
  void set_filter(const QString& filter);
  const OpLine& line(int row) const { return table_.lines[order_[static_cast<std::size_t>(row)]]; }
  /// The row of the line with that name; -1 when it is filtered out.
  int row_of(std::string_view name) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder order) override;

 private:
  void arrange();

  OpTable table_;
  std::vector<std::uint32_t> order_;
  OpColumn sorted_by_ = OpColumn::kTimePerStep;
  bool descending_ = true;
  std::string filter_;
};

}  // namespace headway::gui
