// SPDX-License-Identifier: MIT
#include "gui/pages/data_table_model.h"

#include <algorithm>

#include "gui/models/text/display_text.h"

namespace headway::gui {
namespace {

constexpr std::size_t kTooltipCharacters = 2000;

QVariant aligned(const analyzer::Column& column) {
  return QVariant::fromValue((is_numeric(column) ? Qt::AlignRight : Qt::AlignLeft) |
                             Qt::AlignVCenter);
}

/// The raw value of the cell for programs; an empty text if unknown.
QVariant raw(const analyzer::Cell& cell) {
  if (const std::string* text = std::get_if<std::string>(&cell))
    return QString::fromStdString(*text);
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&cell))
    return static_cast<qlonglong>(*integer);
  if (const double* number = std::get_if<double>(&cell)) return *number;
  return QString();
}

/// Qt guesses whether a tooltip is HTML; names of the program must not be read as HTML.
QString plain_tooltip(std::string_view text) {
  QString shown = QString::fromStdString(display_text(text, kTooltipCharacters));
  return QStringLiteral("<qt>%1</qt>").arg(shown.toHtmlEscaped());
}

}  // namespace

void DataTableModel::set_table(std::shared_ptr<const LinkedTable> table) {
  beginResetModel();
  bool same_columns = table && table_ && table->table.id == table_->table.id &&
                      table->table.columns.size() == table_->table.columns.size();
  table_ = std::move(table);
  if (table_ && !same_columns) {
    how_.column = table_->sort_column;
    how_.descending = table_->descending;
  }
  largest_ = 0;
  if (table_ && table_->bar_column >= 0) {
    for (const auto& row : table_->table.rows) {
      double value = number_of(row[static_cast<std::size_t>(table_->bar_column)]);
      if (value > largest_) largest_ = value;
    }
  }
  order_ = table_ ? arranged(*table_, how_) : std::vector<std::uint32_t>();
  endResetModel();
}

void DataTableModel::set_filter(const QString& filter) {
  how_.filter = filter.toStdString();
  arrange();
}

void DataTableModel::sort(int column, Qt::SortOrder order) {
  how_.column = column;
  how_.descending = order == Qt::DescendingOrder;
  arrange();
}

void DataTableModel::arrange() {
  if (!table_) return;
  beginResetModel();
  order_ = arranged(*table_, how_);
  endResetModel();
}

int DataTableModel::shown_at(std::uint32_t source) const {
  auto found = std::find(order_.begin(), order_.end(), source);
  return found == order_.end() ? -1 : static_cast<int>(found - order_.begin());
}

int DataTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int DataTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() || !table_ ? 0 : static_cast<int>(table_->table.columns.size());
}

QVariant DataTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  std::size_t c = static_cast<std::size_t>(index.column());
  const analyzer::Column& column = table_->table.columns[c];
  const analyzer::Cell& cell = table_->table.rows[source(index.row())][c];
  switch (role) {
    case Qt::DisplayRole:
      return QString::fromStdString(cell_text(column, cell));
    case Qt::EditRole:
      return raw(cell);
    case Qt::ToolTipRole:
      if (const std::string* text = std::get_if<std::string>(&cell)) return plain_tooltip(*text);
      return {};
    case Qt::TextAlignmentRole:
      return aligned(column);
    case kShareRole:
      if (index.column() == table_->bar_column && largest_ > 0) return number_of(cell) / largest_;
      return {};
    default:
      return {};
  }
}

QVariant DataTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  std::size_t c = static_cast<std::size_t>(section);
  const analyzer::Column& column = table_->table.columns[c];
  switch (role) {
    case Qt::DisplayRole: {
      QString title = QString::fromStdString(display_text(column.label, 60));
      // The style's own arrow would cover a right-aligned title.
      if (section == how_.column)
        title += how_.descending ? QStringLiteral(" ▾") : QStringLiteral(" ▴");
      return title;
    }
    case Qt::EditRole:
      return QString::fromStdString(column.id);
    case Qt::InitialSortOrderRole:
      return is_numeric(column) ? Qt::DescendingOrder : Qt::AscendingOrder;
    case Qt::ToolTipRole:
      return c < table_->docs.size() ? plain_tooltip(table_->docs[c]) : QVariant();
    case Qt::TextAlignmentRole:
      return aligned(column);
    default:
      return {};
  }
}

}  // namespace headway::gui
