// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

namespace headway::analyzer {

/// What a column holds; decides how people see it. Machines (CSV, JSON) get the raw number in the
/// unit that the column's id names.
enum class ColumnKind : std::uint8_t {
  kText,
  kDuration,  ///< int64 nanoseconds
  kTime,  ///< int64 nanoseconds from the begin of the recording; shown in seconds to the microsecond
  kBytes,     ///< int64 bytes
  kCount,     ///< int64
  kPercent,   ///< double, 1 = 100 %
  kNumber,    ///< double, two decimals
  kByteRate,  ///< double, bytes per second
  kFlopRate,  ///< double, floating-point operations per second
  kRaw,       ///< a number without a known meaning, shown unchanged
};

struct Column {
  std::string id;     ///< "total_ns": stable, for CSV and JSON
  std::string label;  ///< "Total"
  ColumnKind kind = ColumnKind::kText;
};

using Cell =
    std::variant<std::monostate, std::string, std::int64_t, double>;  ///< monostate: not known

/// A table of results, the same for every output.
struct Table {
  std::string id;     ///< "kernels": stable
  std::string title;  ///< "Kernels"
  std::string note;   ///< the scope of the figures and the base of shares
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// The cell as people see it, not escaped; "" when not known.
std::string display(const Column& column, const Cell& cell);

/// Sorts the rows, largest first; `column` holds int64.
void sort_by(Table& table, std::size_t column);

struct TextOptions {
  std::size_t max_rows = SIZE_MAX;
  std::size_t width = 110;  ///< the widest text column is shortened to fit
  std::string indent;
};
// Text, Markdown and HTML leave out columns that hold nothing in the rows they show; CSV and JSON have
// every column.

/// Aligned columns; names are made inert for a terminal. Last lines say how many rows were left out, and
/// which columns did not fit.
std::string to_text(const Table& table, const TextOptions& options = {});
std::string to_markdown(const Table& table, std::size_t max_rows = SIZE_MAX);
/// RFC 4180, one header row of column ids. A text that a spreadsheet would run as a formula (it
/// begins with = + - @ or a tab) gets a ' in front; control characters but line breaks and tabs become
/// U+FFFD.
std::string to_csv(const Table& table);
/// A <table> with a caption for screen readers, in a <div> that scrolls sideways when it is too wide.
/// `marked`: a row that stands out.
std::string to_html(const Table& table, std::size_t max_rows = SIZE_MAX,
                    std::size_t marked = SIZE_MAX);
/// {"id", "note", "columns": [ids], "rows": [{id: value}]}
nlohmann::ordered_json to_json(const Table& table);

}  // namespace headway::analyzer
