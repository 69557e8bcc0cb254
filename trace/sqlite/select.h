// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/parallel.h"
#include "trace/schema/table.h"
#include "trace/sqlite/database.h"
#include "trace/sqlite/table_pages.h"

struct sqlite3_value;

/// Typed reading of declared tables. `Select<tables::Kernel, &Row::start, &Row::end>` reads only
/// those columns; a column that the file lacks (another version or producer) keeps the Row's
/// default.
namespace headway::trace::sqlite {

namespace detail {

/// Read one argument of the visiting function as the type of the Row's member.
bool is_null(sqlite3_value* value);
std::int64_t int64_of(sqlite3_value* value);
double real_of(sqlite3_value* value);
std::string_view text_of(sqlite3_value* value);  ///< valid until the visit returns

/// Converts an id; an id that is out of range becomes one that no file can have.
inline StringId string_id(std::int64_t id) {
  return StringId{id < 0 || id > 0xfffffffe ? 0xfffffffe : static_cast<std::uint32_t>(id)};
}

template <class T>
void read_value(sqlite3_value* value, T& out) {
  if constexpr (ColumnType<T>::kNullable) {
    if (is_null(value)) {
      out.reset();
      return;
    }
    typename ColumnType<T>::Value inner{};
    read_value(value, inner);
    out = inner;
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    out = text_of(value);
  } else if constexpr (std::is_same_v<T, StringId>) {
    out = string_id(int64_of(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    out = real_of(value);
  } else {
    out = static_cast<T>(int64_of(value));
  }
}

/// The same for a cell in a page of the file. False: the value needs a conversion, which is left to
/// SQLite.
template <class T>
bool read_cell(const Cell& cell, T& out) {
  if constexpr (ColumnType<T>::kNullable) {
    if (cell.is_null()) {
      out.reset();
      return true;
    }
    typename ColumnType<T>::Value inner{};
    if (!read_cell(cell, inner)) return false;
    out = inner;
    return true;
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    out = cell.is_text() ? cell.text() : std::string_view{};
    return cell.is_text() || cell.is_null();
  } else if constexpr (std::is_floating_point_v<T>) {
    if (cell.is_real()) {
      out = cell.real();
      return out == out;  // SQLite reads NaN as NULL
    }
    out = cell.is_integer() ? static_cast<double>(cell.integer()) : 0;
    return cell.is_integer() || cell.is_null();
  } else {
    if (!cell.is_integer() && !cell.is_null()) return false;
    const std::int64_t value = cell.is_null() ? 0 : cell.integer();
    if constexpr (std::is_same_v<T, StringId>) {
      out = string_id(value);
    } else {
      out = static_cast<T>(value);
    }
    return true;
  }
}

/// Runs `sql`, which must select `headway_visit(…)`, and calls `visit(client, values)` once per row
/// from inside SQLite's loop: without a statement step per row a scan is 1.4 times as fast (measured
/// 2026-11). An exception of `visit` is rethrown when the scan has ended.
void run_visits(const Database& db, const std::string& sql, void* client,
                void (*visit)(void* client, sqlite3_value** values));

/// Throws Error(kBadInput): the table's row ids do not ascend.
[[noreturn]] void fail_order(const Database& db, std::string_view table, std::int64_t row_id);

template <class Table, auto Member>
constexpr std::string_view column_name() {
  std::string_view name;
  std::apply(
      [&](const auto&... column) {
        auto check = [&](const auto& c) {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(c.member)>,
                                       std::remove_cvref_t<decltype(Member)>>) {
            if (c.member == Member) name = c.name;
          }
        };
        (check(column), ...);
      },
      Table::columns);
  return name;
}

}  // namespace detail

template <class Table, auto... Members>
class Select {
 public:
  using Row = typename Table::Row;

 private:
  template <class Visit>
  struct State {
    Visit& visit;
    const Database& db;
    Row row{};
    std::array<bool, sizeof...(Members)> has{};
    std::size_t columns = 0;
    std::int64_t last_row = 0;
    bool any_row = false;

    /// Checks that row ids ascend: in a damaged file the same page may occur in many places of the
    /// tree.
    void saw(std::int64_t id) {
      if (any_row && id <= last_row) detail::fail_order(db, Table::name, id);
      any_row = true;
      last_row = id;
    }
  };

  /// False when SQLite must read one of the cells.
  template <class Visit>
  static bool visit_cells(State<Visit>& state, std::int64_t id, const Cell* cells) {
    std::size_t column = 0;
    auto read = [&](auto member) {
      return !state.has[column++] || detail::read_cell(*cells++, state.row.*member);
    };
    if (!(read(Members) && ...)) return false;
    state.saw(id);
    state.visit(id, state.row);
    return true;
  }

 public:
  /// Calls `visit(row_id, row)` for each row with rowid in [first, last] for which `where` holds
  /// (SQL with numbers and declared column names only; empty: all), in rowid order. Text in the row
  /// is valid during the call. Does nothing when the file has no such table.
  template <class Visit>
  static void run(const Database& db, std::int64_t first, std::int64_t last, Visit visit,
                  std::string_view where = {}) {
    std::vector<std::string> present = db.columns_of(Table::name);
    if (present.empty()) return;
    State<Visit> state{visit, db};
    std::string arguments = "rowid";
    std::vector<std::string_view> wanted;
    for (std::string_view name : {detail::column_name<Table, Members>()...}) {
      bool has = std::find(present.begin(), present.end(), name) != present.end();
      state.has[state.columns++] = has;
      if (!has) continue;
      arguments += fmt::format(",\"{}\"", name);
      wanted.push_back(name);
    }
    if (where.empty()) {
      if (auto pages = TablePages::open(db, Table::name, wanted)) {
        std::optional<std::int64_t> rest =
            pages->visit(first, last, &state, [](void* client, std::int64_t id, const Cell* cells) {
              return visit_cells(*static_cast<State<Visit>*>(client), id, cells);
            });
        if (!rest) return;
        first = *rest;
      }
    }
    // NOT INDEXED, because an index that covers the columns would change the order.
    detail::run_visits(
        db,
        fmt::format(
            "SELECT headway_visit({}) FROM {} NOT INDEXED WHERE rowid BETWEEN {} AND {}{}{}",
            arguments, Table::name, first, last, where.empty() ? "" : " AND ", where),
        &state, [](void* client, sqlite3_value** values) {
          auto& s = *static_cast<State<Visit>*>(client);
          std::size_t column = 0;
          std::size_t value = 1;
          auto read = [&](auto member) {
            if (s.has[column++]) detail::read_value(values[value++], s.row.*member);
          };
          (read(Members), ...);
          const std::int64_t id = detail::int64_of(values[0]);
          s.saw(id);
          s.visit(id, s.row);
        });
  }

  template <class Visit>
  static void run(const Database& db, Visit visit) {
    run(db, INT64_MIN, INT64_MAX, visit);
  }

  /// Splits the table into rowid ranges, more than `threads`, so that no thread waits long for the
  /// slowest one. Each range is read over its thread's own connection into its own `Part`;
  /// `visit(part, row_id, row)` runs concurrently for different parts. Returns the parts in rowid
  /// order. Rows before `from` are not read.
  template <class Part, class Visit>
  static std::vector<Part> run_parallel(const Database& db, int threads, Visit visit,
                                        const std::string& where = {},
                                        std::int64_t from = INT64_MIN) {
    std::vector<Part> parts;
    if (!db.has_table(Table::name)) return parts;
    std::int64_t first = db.int64(fmt::format("SELECT min(rowid) FROM {}", Table::name));
    std::int64_t last = db.int64(fmt::format("SELECT max(rowid) FROM {}", Table::name));
    if (from > last) return parts;
    first = std::max(first, from);
    constexpr std::int64_t kRowsWorthAPart = 50000;
    constexpr std::int64_t kPartsAThread = 8;
    // Row ids of another producer's file may be any numbers, and those of a damaged file may be in
    // any order; the table is split only if they are sane, which keeps the arithmetic in range.
    bool sane = 0 <= first && first <= last && last < std::int64_t{1} << 48;
    std::int64_t most = threads > 1 ? threads * kPartsAThread : 1;
    std::int64_t count =
        sane ? std::clamp<std::int64_t>((last - first) / kRowsWorthAPart, 1, most) : 1;
    parts.resize(static_cast<std::size_t>(count));
    if constexpr (requires(Part & part) { part.reserve(std::size_t{}); }) {
      // A row takes at least 12 bytes of the file, so gaps in the row ids cannot cause a huge
      // reservation.
      std::int64_t rows = std::min<std::int64_t>(last - first + 1, db.file_bytes() / 12);
      for (std::size_t i = 0; sane && i < parts.size(); ++i) {
        // The first part reserves room for all rows, because the others are appended to it.
        if (where.empty())
          parts[i].reserve(static_cast<std::size_t>(i == 0 ? rows : rows / count + 1));
      }
    }
    std::int64_t stride = sane ? (last - first + 1) / count : 0;
    auto read_part = [&](std::int64_t i, const Database& connection) {
      std::int64_t begin = sane ? first + stride * i : INT64_MIN;
      std::int64_t to = !sane ? INT64_MAX : i + 1 == count ? last : begin + stride - 1;
      Part& part = parts[static_cast<std::size_t>(i)];
      run(
          connection, begin, to, [&](std::int64_t id, const Row& row) { visit(part, id, row); },
          where);
    };
    std::atomic<std::int64_t> next = 0;
    std::vector<std::exception_ptr> errors(parts.size());
    auto read_parts = [&](const Database& connection) {
      for (std::int64_t i; (i = next.fetch_add(1)) < count;) {
        try {
          read_part(i, connection);
        } catch (...) {
          errors[static_cast<std::size_t>(i)] = std::current_exception();
        }
      }
    };
    auto workers = static_cast<std::size_t>(std::clamp<std::int64_t>(threads, 1, count));
    headway::run_parallel(
        workers,
        [&](std::size_t worker) {
          if (worker == 0) {
            read_parts(db);
          } else {
            read_parts(Database::open_read_only(db.path()));
          }
        },
        static_cast<int>(workers));
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    return parts;
  }
};

}  // namespace headway::trace::sqlite
