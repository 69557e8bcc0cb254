// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/stats/table.h"
#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// A table of the analyzer for a page, with a link for each row and a tooltip for each column.
struct LinkedTable {
  analyzer::Table table;
  std::vector<Target> links;           ///< by row: the event to open; empty: none
  std::vector<Interval> views;         ///< by row: the time to open without a link; may be empty
  std::vector<std::string> keys;       ///< by row: name for select_key(); may be empty
  std::vector<std::string_view> docs;  ///< by column, for tooltips; may be shorter
  int bar_column = -1;                 ///< column of shares drawn as bars; -1: none
  int sort_column = -1;                ///< initial sort column; -1: unsorted
  bool descending = true;

  Target link(std::size_t row) const { return row < links.size() ? links[row] : Target{}; }
  /// The column with that id; -1 when there is none.
  int column(std::string_view id) const;
  /// Drops empty columns, except the first one.
  void drop_unknown_columns();
};

/// Sort order and filter that the reader chose.
struct Arrangement {
  int column = -1;  ///< -1: the table's own order
  bool descending = true;
  std::string filter;  ///< shows rows containing all words, ignoring case
};

/// Indices of the shown rows in that order; ties keep the table's order, unknown cells come last. 100,000 rows take tens of
/// milliseconds.
std::vector<std::uint32_t> arranged(const LinkedTable& table, const Arrangement& how);

bool is_numeric(const analyzer::Column& column);
/// The number in the cell; NaN for text and unknown cells.
double number_of(const analyzer::Cell& cell);
/// The cell as one line of text; "–" if unknown.
std::string cell_text(const analyzer::Column& column, const analyzer::Cell& cell);

/// A table of these rows, in this order, for copies and exports.
analyzer::Table rows_of(const LinkedTable& table, std::span<const std::uint32_t> rows);
/// Tab-separated text: a line of labels, then one line per row.
std::string to_tabbed(const analyzer::Table& table);

}  // namespace headway::gui
