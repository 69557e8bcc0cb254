// SPDX-License-Identifier: MIT
#include "gui/models/tables/linked_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/format.h"
#include "gui/models/text/display_text.h"

namespace headway::gui {
namespace {

using analyzer::Cell;
using analyzer::Column;
using analyzer::ColumnKind;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool contains(std::string_view text, std::string_view lower_needle) {
  return std::search(text.begin(), text.end(), lower_needle.begin(), lower_needle.end(),
                     [](char a, char b) { return lower(a) == b; }) != text.end();
}

std::vector<std::string> words_of(std::string_view filter) {
  std::vector<std::string> words;
  std::string word;
  for (char c : filter) {
    if (c != ' ') {
      word += lower(c);
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

bool holds(const std::vector<Cell>& row, const std::vector<std::string>& words) {
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::any_of(row.begin(), row.end(), [&](const Cell& cell) {
      const std::string* text = std::get_if<std::string>(&cell);
      return text && contains(*text, word);
    });
  });
}

/// Sorts `order` by the numbers of a column; rows without a number stay at the end, in their order.
void sort_by_number(std::vector<std::uint32_t>& order, const LinkedTable& table, std::size_t column,
                    bool descending) {
  std::vector<std::pair<double, std::uint32_t>> keyed;
  std::vector<std::uint32_t> unknown;
  for (std::uint32_t row : order) {
    double value = number_of(table.table.rows[row][column]);
    if (std::isnan(value)) {
      unknown.push_back(row);
    } else {
      keyed.emplace_back(descending ? -value : value, row);
    }
  }
  std::sort(keyed.begin(), keyed.end());
  order.clear();
  for (const auto& [value, row] : keyed) order.push_back(row);
  order.insert(order.end(), unknown.begin(), unknown.end());
}

void sort_by_text(std::vector<std::uint32_t>& order, const LinkedTable& table, std::size_t column,
                  bool descending) {
  auto text = [&](std::uint32_t row) -> std::string_view {
    const std::string* held = std::get_if<std::string>(&table.table.rows[row][column]);
    return held ? std::string_view(*held) : std::string_view();
  };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    std::string_view x = text(a);
    std::string_view y = text(b);
    if (x.empty() || y.empty()) return !x.empty() && y.empty();
    return descending ? y < x : x < y;
  });
}

}  // namespace

int LinkedTable::column(std::string_view id) const {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].id == id) return static_cast<int>(c);
  }
  return -1;
}

void LinkedTable::drop_unknown_columns() {
  auto known = [](const Cell& cell) {
    const std::string* text = std::get_if<std::string>(&cell);
    return text ? !text->empty() : !std::holds_alternative<std::monostate>(cell);
  };
  auto drop = [](int& column, std::size_t dropped) {
    if (column == static_cast<int>(dropped)) column = -1;
    if (column > static_cast<int>(dropped)) --column;
  };
  if (table.rows.empty()) return;
  for (std::size_t c = table.columns.size(); c-- > 1;) {
    if (std::any_of(table.rows.begin(), table.rows.end(),
                    [&](const std::vector<Cell>& row) { return known(row[c]); }))
      continue;
    std::ptrdiff_t at = static_cast<std::ptrdiff_t>(c);
    table.columns.erase(table.columns.begin() + at);
    for (std::vector<Cell>& row : table.rows) row.erase(row.begin() + at);
    if (c < docs.size()) docs.erase(docs.begin() + at);
    drop(bar_column, c);
    drop(sort_column, c);
  }
}

bool is_numeric(const Column& column) {
  return column.kind != ColumnKind::kText;
}

double number_of(const Cell& cell) {
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&cell))
    return static_cast<double>(*integer);
  if (const double* number = std::get_if<double>(&cell)) return *number;
  return std::numeric_limits<double>::quiet_NaN();
}

std::string cell_text(const Column& column, const Cell& cell) {
  const double* number = std::get_if<double>(&cell);
  // Counts per step are mostly integers: shown as "8", not "8.00".
  if (number && column.kind == ColumnKind::kNumber && std::floor(*number) == *number &&
      std::fabs(*number) < 1e15)
    return format_count(static_cast<std::int64_t>(*number));
  std::string text = analyzer::display(column, cell);
  return text.empty() ? "–" : display_text(text);
}

std::vector<std::uint32_t> arranged(const LinkedTable& table, const Arrangement& how) {
  std::vector<std::uint32_t> order(table.table.rows.size());
  std::iota(order.begin(), order.end(), 0u);
  if (std::vector<std::string> words = words_of(how.filter); !words.empty())
    std::erase_if(order, [&](std::uint32_t row) { return !holds(table.table.rows[row], words); });
  if (how.column < 0 || how.column >= static_cast<int>(table.table.columns.size())) return order;
  std::size_t column = static_cast<std::size_t>(how.column);
  if (is_numeric(table.table.columns[column])) {
    sort_by_number(order, table, column, how.descending);
  } else {
    sort_by_text(order, table, column, how.descending);
  }
  return order;
}

analyzer::Table rows_of(const LinkedTable& table, std::span<const std::uint32_t> rows) {
  analyzer::Table out{table.table.id, table.table.title, table.table.note, table.table.columns, {}};
  out.rows.reserve(rows.size());
  for (std::uint32_t row : rows) out.rows.push_back(table.table.rows[row]);
  return out;
}

std::string to_tabbed(const analyzer::Table& table) {
  std::string out;
  for (std::size_t c = 0; c < table.columns.size(); ++c)
    out += (c ? "\t" : "") + display_text(table.columns[c].label);
  out += '\n';
  for (const std::vector<Cell>& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c)
      out += (c ? "\t" : "") +
             display_text(analyzer::display(table.columns[c], row[c]), kMaxShownCharacters * 10);
    out += '\n';
  }
  return out;
}

}  // namespace headway::gui
