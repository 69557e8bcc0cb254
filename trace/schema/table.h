// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "trace/schema/column.h"

struct sqlite3_context;

namespace headway::trace {

/// A table as data, from which the SQL schema, the bulk writer and the generated documentation are
/// made. There is one per declaration in trace/tables/, built by `describe<Table>()`.
struct TableDescription {
  struct ColumnDescription {
    std::string_view name;
    std::string_view sql_type;
    Unit unit;
    bool nullable;
    bool references_strings;
    bool primary_key;
    std::string_view doc;
    /// Passes this column of the row at `row` to SQLite as a function result.
    void (*result)(sqlite3_context* context, const void* row);
  };
  std::string_view name;
  std::string_view doc;
  bool of_nsys;  ///< Nsight Systems' export has this table: same names, units and encodings
  std::vector<ColumnDescription> columns;
  std::vector<std::string_view> indexes;  ///< column lists indexed when a recording is finished
};

/// `CREATE TABLE …` with the documentation of each column as a comment, as Nsight Systems' export
/// does.
std::string create_table_sql(const TableDescription& table);

namespace detail {
void result_value(sqlite3_context* context, std::int64_t value);
void result_value(sqlite3_context* context, double value);
void result_value(sqlite3_context* context, std::string_view value);
void result_value(sqlite3_context* context, Blob value);
void result_null(sqlite3_context* context);

template <class T>
void result_of(sqlite3_context* context, const T& value) {
  if constexpr (ColumnType<T>::kNullable) {
    if (value) {
      result_of(context, *value);
    } else {
      result_null(context);
    }
  } else if constexpr (std::is_same_v<T, StringId>) {
    result_value(context, static_cast<std::int64_t>(value.value));
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    result_value(context, static_cast<std::int64_t>(value));
  } else {
    result_value(context, value);
  }
}

template <class Table, std::size_t I>
void result_column(sqlite3_context* context, const void* row) {
  constexpr auto column = std::get<I>(Table::columns);
  result_of(context, static_cast<const typename Table::Row*>(row)->*(column.member));
}

template <class Table, std::size_t... I>
std::vector<TableDescription::ColumnDescription> describe_columns(std::index_sequence<I...>) {
  auto one = []<std::size_t K>(std::integral_constant<std::size_t, K>) {
    constexpr auto column = std::get<K>(Table::columns);
    using T = std::remove_cvref_t<decltype(std::declval<typename Table::Row>().*(column.member))>;
    return TableDescription::ColumnDescription{column.name,
                                               sql_type<T>(),
                                               column.unit,
                                               ColumnType<T>::kNullable,
                                               is_string_reference<T>(),
                                               Table::primary_key == column.name,
                                               column.doc,
                                               &result_column<Table, K>};
  };
  return {one(std::integral_constant<std::size_t, I>{})...};
}
}  // namespace detail

/// The base of every table declaration: defaults for the optional parts.
struct TableDefaults {
  static constexpr bool of_nsys = false;
  static constexpr std::string_view primary_key = "";
  static constexpr std::array<std::string_view, 0> indexes = {};
};

/// The description of a declared table; built once, lives for the program's duration. Thread-safe.
template <class Table>
const TableDescription& describe() {
  static const TableDescription description = {
      Table::name, Table::doc, Table::of_nsys,
      detail::describe_columns<Table>(
          std::make_index_sequence<std::tuple_size_v<decltype(Table::columns)>>{}),
      std::vector<std::string_view>(Table::indexes.begin(), Table::indexes.end())};
  return description;
}

}  // namespace headway::trace
