// SPDX-License-Identifier: MIT
#include "gui/pages/result_table_model.h"

#include <algorithm>
#include <cmath>

#include "gui/models/text/display_text.h"

namespace headway::gui {
namespace {

constexpr std::string_view kChange = "change_ns";

QString text(std::string_view view) {
  return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

double number(const analyzer::Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  const auto* real = std::get_if<double>(&cell);
  return real && std::isfinite(*real) ? *real : 0;
}

bool is_known(const analyzer::Cell& cell) {
  const auto* words = std::get_if<std::string>(&cell);
  return words ? !words->empty() : !std::holds_alternative<std::monostate>(cell);
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool contains(std::string_view text, std::string_view lower_needle) {
  return std::search(text.begin(), text.end(), lower_needle.begin(), lower_needle.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

}  // namespace

void ResultTableModel::set_table(analyzer::Table table) {
  beginResetModel();
  table_ = std::move(table);
  columns_.clear();
  largest_change_ = 0;
  sorted_by_ = -1;
  for (std::size_t c = 0; c < table_.columns.size(); ++c) {
    bool any = std::any_of(table_.rows.begin(), table_.rows.end(),
                           [&](const auto& row) { return is_known(row[c]); });
    if (any) columns_.push_back(c);
    if (table_.columns[c].id != kChange) continue;
    for (const auto& row : table_.rows)
      largest_change_ = std::max(largest_change_, std::fabs(number(row[c])));
  }
  endResetModel();
  arrange();
}

void ResultTableModel::set_filter(const QString& filter) {
  filter_ = filter.toStdString();
  std::transform(filter_.begin(), filter_.end(), filter_.begin(), lower);
  arrange();
}

void ResultTableModel::sort(int column, Qt::SortOrder order) {
  sorted_by_ = column < columnCount() ? column : -1;
  descending_ = order == Qt::DescendingOrder;
  arrange();
}

void ResultTableModel::arrange() {
  beginResetModel();
  order_.clear();
  for (std::size_t r = 0; r < table_.rows.size(); ++r) {
    bool wanted = filter_.empty();
    for (const analyzer::Cell& cell : table_.rows[r]) {
      const auto* words = std::get_if<std::string>(&cell);
      wanted = wanted || (words && contains(*words, filter_));
    }
    if (wanted) order_.push_back(r);
  }
  if (sorted_by_ >= 0) {
    const std::size_t c = columns_[static_cast<std::size_t>(sorted_by_)];
    const bool words = table_.columns[c].kind == analyzer::ColumnKind::kText;
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t x, std::size_t y) {
      if (descending_) std::swap(x, y);
      const analyzer::Cell& a = table_.rows[x][c];
      const analyzer::Cell& b = table_.rows[y][c];
      return words ? std::get<std::string>(a) < std::get<std::string>(b) : number(a) < number(b);
    });
  }
  endResetModel();
}

const analyzer::Column& ResultTableModel::column_at(int column) const {
  return table_.columns[columns_[static_cast<std::size_t>(column)]];
}

bool ResultTableModel::is_numeric(int column) const {
  return column_at(column).kind != analyzer::ColumnKind::kText;
}

std::string ResultTableModel::text_of(std::size_t row, std::size_t column) const {
  const analyzer::Cell& cell = table_.rows[row][column];
  std::string shown = analyzer::display(table_.columns[column], cell);
  // A change always has its sign, so that better and worse differ not only in colour.
  if (table_.columns[column].id == kChange && number(cell) > 0) shown.insert(0, "+");
  return display_text(shown);
}

int ResultTableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

int ResultTableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant ResultTableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const std::size_t row = source_row(index.row());
  const std::size_t column = columns_[static_cast<std::size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole:
      return QString::fromStdString(text_of(row, column));
    case Qt::EditRole:
      if (const auto* whole = std::get_if<std::int64_t>(&table_.rows[row][column]))
        return static_cast<qlonglong>(*whole);
      if (const auto* real = std::get_if<double>(&table_.rows[row][column])) return *real;
      return QString::fromStdString(text_of(row, column));
    case Qt::TextAlignmentRole:
      return QVariant::fromValue((is_numeric(index.column()) ? Qt::AlignRight : Qt::AlignLeft) |
                                 Qt::AlignVCenter);
    case kChangeRole:
      if (table_.columns[column].id == kChange && largest_change_ > 0)
        return number(table_.rows[row][column]) / largest_change_;
      return {};
    default:
      return {};
  }
}

QVariant ResultTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  if (role == Qt::DisplayRole) {
    QString title = text(column_at(section).label);
    // The style's own arrow would cover a right-aligned title.
    if (section == sorted_by_) title += descending_ ? QStringLiteral(" ▾") : QStringLiteral(" ▴");
    return title;
  }
  if (role == Qt::EditRole) return text(column_at(section).id);
  if (role == Qt::TextAlignmentRole)
    return QVariant::fromValue((is_numeric(section) ? Qt::AlignRight : Qt::AlignLeft) |
                               Qt::AlignVCenter);
  return {};
}

}  // namespace headway::gui
