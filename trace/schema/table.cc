// SPDX-License-Identifier: MIT
#include "trace/schema/table.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace headway::trace {

std::string_view unit_name(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      return "";
    case Unit::kNs:
      return "ns";
    case Unit::kBytes:
      return "bytes";
    case Unit::kFlops:
      return "flops";
    case Unit::kCount:
      return "count";
    case Unit::kId:
      return "id";
    case Unit::kEnum:
      return "enum";
    case Unit::kPercent:
      return "%";
    case Unit::kHz:
      return "Hz";
  }
  return "";
}

std::string create_table_sql(const TableDescription& table) {
  std::string sql = fmt::format("CREATE TABLE {} (\n    -- {}\n\n", table.name, table.doc);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto& column = table.columns[i];
    std::string constraint = column.primary_key ? " PRIMARY KEY"
                             : column.nullable  ? ""
                                                : " NOT NULL";
    std::string_view comma = i + 1 < table.columns.size() ? "," : "";
    std::string_view reference = column.references_strings ? "REFERENCES StringIds(id) -- " : "";
    std::string unit =
        column.unit == Unit::kNone ? "" : fmt::format(" ({})", unit_name(column.unit));
    sql += fmt::format("    {:<27} {:<8}{:<12}{} -- {}{}{}\n", column.name, column.sql_type,
                       constraint, comma, reference, column.doc, unit);
  }
  // Not STRICT: together with NOT NULL it costs a fifth of the insert rate, and the types are
  // checked by the compiler.
  return sql + ")";
}

namespace detail {

void result_value(sqlite3_context* context, std::int64_t value) {
  sqlite3_result_int64(context, value);
}
void result_value(sqlite3_context* context, double value) {
  sqlite3_result_double(context, value);
}
// SQLITE_STATIC: rows and what they point to live until the batch is flushed, so SQLite need not
// copy.
void result_value(sqlite3_context* context, std::string_view value) {
  sqlite3_result_text64(context, value.data() ? value.data() : "", value.size(), SQLITE_STATIC,
                        SQLITE_UTF8);
}
void result_value(sqlite3_context* context, Blob value) {
  sqlite3_result_blob64(context, value.data() ? static_cast<const void*>(value.data()) : "",
                        value.size(), SQLITE_STATIC);
}
void result_null(sqlite3_context* context) {
  sqlite3_result_null(context);
}

}  // namespace detail
}  // namespace headway::trace
