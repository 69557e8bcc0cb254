// SPDX-License-Identifier: MIT
#include "gui/pages/op_table_model.h"

namespace headway::gui {
namespace {

QString text(std::string_view view) {
  return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

}  // namespace

void OpTableModel::set_table(OpTable table) {
  beginResetModel();
  table_ = std::move(table);
  order_ = table_.arranged(sorted_by_, descending_, filter_);
  endResetModel();
}

void OpTableModel::set_filter(const QString& filter) {
  filter_ = filter.toStdString();
  arrange();
}

void OpTableModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= columnCount()) return;
  sorted_by_ = op_columns()[static_cast<std::size_t>(column)].column;
  descending_ = order == Qt::DescendingOrder;
  arrange();
}

void OpTableModel::arrange() {
  beginResetModel();
  order_ = table_.arranged(sorted_by_, descending_, filter_);
  endResetModel();
}

int OpTableModel::row_of(std::string_view name) const {
  for (int row = 0; row < rowCount(); ++row) {
    if (line(row).name == name) return row;
  }
  return -1;
}

int OpTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int OpTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(op_columns().size());
}

QVariant OpTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const OpColumnInfo& column = op_columns()[static_cast<std::size_t>(index.column())];
  const OpLine& one = line(index.row());
  switch (role) {
    case Qt::DisplayRole:
      return QString::fromStdString(table_.text(one, column.column));
    case Qt::TextAlignmentRole:
      return QVariant::fromValue((column.numeric ? Qt::AlignRight : Qt::AlignLeft) |
                                 Qt::AlignVCenter);
    case kShareRole:
      if (column.column == OpColumn::kShare) return ratio(one.total, table_.lines.front().total);
      return {};
    default:
      return {};
  }
}

QVariant OpTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const OpColumnInfo& column = op_columns()[static_cast<std::size_t>(section)];
  if (role == Qt::DisplayRole) {
    // Without steps the same columns are over the whole trace.
    QString title = text(column.title);
    if (table_.steps == 0 && column.column == OpColumn::kTimePerStep) title = tr("Time");
    if (table_.steps == 0 && column.column == OpColumn::kCountPerStep) title = tr("Count");
    // The style's own arrow would lie over a title that is aligned to the right.
    if (column.column == sorted_by_)
      title += descending_ ? QStringLiteral(" ▾") : QStringLiteral(" ▴");
    return title;
  }
  if (role == Qt::ToolTipRole) return text(column.doc);
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue((column.numeric ? Qt::AlignRight : Qt::AlignLeft) |
                               Qt::AlignVCenter);
  return {};
}

}  // namespace headway::gui
