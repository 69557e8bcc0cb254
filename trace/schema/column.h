// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "common/ids.h"

namespace headway::trace {

/// The id of a text: in StringIds of the file for rows being written, in `Trace::strings` in
/// memory. 0 is "".
using StringId = Id<struct StringTag, std::uint32_t>;

/// Unit of a column, shown in docs/reference/tables.md.
enum class Unit : std::uint8_t { kNone, kNs, kBytes, kFlops, kCount, kId, kEnum, kPercent, kHz };
std::string_view unit_name(Unit unit);

/// One column of a table: the member of `Row` that holds it, its unit and a sentence about it.
/// The member's type decides the SQL type: integers -> INTEGER, double -> REAL, string_view ->
/// TEXT, StringId -> INTEGER REFERENCES StringIds(id), span of bytes -> BLOB; std::optional of
/// these may be NULL.
template <class Row, class T>
struct Column {
  std::string_view name;
  T Row::*member;
  Unit unit;
  std::string_view doc;
};
template <class Row, class T>
Column(const char*, T Row::*, Unit, const char*) -> Column<Row, T>;

using Blob = std::span<const std::byte>;

template <class T>
struct ColumnType {
  using Value = T;
  static constexpr bool kNullable = false;
};
template <class T>
struct ColumnType<std::optional<T>> {
  using Value = T;
  static constexpr bool kNullable = true;
};

template <class T>
constexpr std::string_view sql_type() {
  using Value = typename ColumnType<T>::Value;
  if constexpr (std::is_same_v<Value, std::string_view>) {
    return "TEXT";
  } else if constexpr (std::is_same_v<Value, Blob>) {
    return "BLOB";
  } else if constexpr (std::is_floating_point_v<Value>) {
    return "REAL";
  } else {
    static_assert(std::is_integral_v<Value> || std::is_enum_v<Value> ||
                  std::is_same_v<Value, StringId>);
    return "INTEGER";
  }
}

template <class T>
constexpr bool is_string_reference() {
  return std::is_same_v<typename ColumnType<T>::Value, StringId>;
}

}  // namespace headway::trace
