// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/sqlite/database.h"

struct sqlite3_file;

namespace headway::trace::sqlite {

/// A value in a record of the file: its serial type (SQLite's file format, 2.1) and bytes, valid while
/// its row is visited.
struct Cell {
  /// 0 NULL, 1-6 integer, 7 real, 8 and 9 the integers 0 and 1, 12 and more by length.
  std::uint64_t type = 0;
  const std::uint8_t* data = nullptr;

  bool is_null() const { return type == 0; }
  bool is_integer() const { return (type >= 1 && type <= 6) || type == 8 || type == 9; }
  bool is_real() const { return type == 7; }
  bool is_text() const { return type >= 13 && type % 2 == 1; }

  /// Only if is_integer(); the functions below likewise need their type.
  std::int64_t integer() const;
  double real() const;
  std::string_view text() const {
    return {reinterpret_cast<const char*>(data), static_cast<std::size_t>((type - 13) / 2)};
  }
};

/// Reads rows of a table directly from the pages of the file, in a fifth of the time of SQLite's byte
/// code (docs/design/0030-opening-large-traces.md). It reads the forms that nearly all traces have and
/// stops at any other: the caller then lets SQLite read from the returned row on. So every value is
/// the one that SQLite would read, and SQLite reports damage.
///
/// SQLite reads the pages (through the connection, so its locks hold) and says where a table is.
class TablePages {
 public:
  /// Takes a read lock until the object is destroyed, so that no program writes. Nullopt when the table
  /// does not have the common form: pages in a log beside the file, text that is not UTF-8, columns
  /// that are computed or stand for the row id, no such table. `columns`: the columns to read.
  static std::optional<TablePages> open(const Database& db, std::string_view table,
                                        const std::vector<std::string_view>& columns);
  TablePages(TablePages&& other) noexcept;
  TablePages& operator=(TablePages&&) = delete;
  ~TablePages();

  /// Called for each row with its cells in the order of the columns; false: SQLite must read this row.
  using Visit = bool (*)(void* client, std::int64_t row_id, const Cell* cells);
  /// Visits the rows with rowid in [first, last] in the order of the tree, which ascends unless the file
  /// is damaged. Returns the row id from which SQLite must go on; nullopt when all rows were visited.
  std::optional<std::int64_t> visit(std::int64_t first, std::int64_t last, void* client, Visit row);

 private:
  struct Scan;
  TablePages() = default;
  bool read_page(std::uint32_t page, std::vector<std::uint8_t>& bytes) const;
  bool visit_page(Scan& scan, std::uint32_t page, int depth) const;
  bool visit_leaf(Scan& scan, const std::uint8_t* page, std::uint32_t header) const;
  bool read_record(const std::uint8_t* record, const std::uint8_t* end, Cell* cells) const;

  const Database* db_ = nullptr;
  sqlite3_file* file_ = nullptr;
  std::uint32_t root_ = 0;  ///< number of the tree's root page, counted from 1
  std::uint32_t page_size_ = 0;
  std::uint32_t usable_ = 0;  ///< bytes of a page that hold the tree
  std::vector<int> slot_;     ///< by column of the table, up to the last wanted one; -1: not wanted
  std::size_t wanted_ = 0;
};

}  // namespace headway::trace::sqlite
