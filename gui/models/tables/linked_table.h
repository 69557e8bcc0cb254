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

/// A table of the analyzer as a page shows it: what its rows lead to, what its columns mean.
struct LinkedTable {
  analyzer::Table table;
  std::vector<Target> links;           ///< by row; empty: rows lead nowhere
  std::vector<Interval> views;         ///< by row: the time of a row without a link; may be empty
  std::vector<std::string> keys;       ///< by row: what open() finds it by; may be empty
  std::vector<std::string_view> docs;  ///< by column, for tooltips; may be shorter
  int bar_column = -1;                 ///< a column of shares with bars behind them; -1: none
  int sort_column = -1;                ///< how it is sorted at first; -1: as it is
  bool descending = true;

  Target link(std::size_t row) const { return row < links.size() ? links[row] : Target{}; }
  /// The column with that id; -1 when there is none.
  int column(std::string_view id) const;
  /// Drops columns in which no row holds anything, but the first.
  void drop_unknown_columns();
};

/// How a reader wants the rows.
struct Arrangement {
  int column = -1;  ///< -1: the table's own order
  bool descending = true;
  std::string filter;  ///< rows stay that hold each of its words in some text, in either case
};

/// Rows of the table in that order, ties in the table's own; what is not known comes last. A
/// hundred thousand rows take some tens of milliseconds.
std::vector<std::uint32_t> arranged(const LinkedTable& table, const Arrangement& how);

bool is_numeric(const analyzer::Column& column);
/// What the cell holds as a number; NaN when it is text or not known.
double number_of(const analyzer::Cell& cell);
/// The cell fit to be shown on a line; "–" when not known.
std::string cell_text(const analyzer::Column& column, const analyzer::Cell& cell);

/// Those rows only, in that order: for copies and exports.
analyzer::Table rows_of(const LinkedTable& table, std::span<const std::uint32_t> rows);
/// As a person would type it: a line of labels, then lines, cells separated by tabs.
std::string to_tabbed(const analyzer::Table& table);

}  // namespace headway::gui
