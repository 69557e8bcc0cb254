// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>

#include "trace/schema/table.h"
#include "trace/sqlite/database.h"

namespace headway::trace::sqlite {

/// Inserts arrays of rows into one table. SQLite pulls the values itself through a virtual table
/// (`INSERT INTO t SELECT * FROM rows`), so one statement handles a whole batch: 1.3-1.7 M rows/s
/// for the kernel table against 0.63 M with bind/step/reset per row (docs/performance.md). The
/// constructor creates the table if it is missing.
class BulkInsert {
 public:
  BulkInsert(Database& db, const TableDescription& table);
  ~BulkInsert();
  BulkInsert(BulkInsert&&) noexcept;

  /// `rows` points to `count` rows of the declared Row type, `row_size` bytes apart. Data to which
  /// the rows point must live until this returns. Throws as Statement::step does.
  void insert(const void* rows, std::size_t count, std::size_t row_size);

  struct Source;  ///< the array being inserted; internal to the virtual table

 private:
  std::unique_ptr<Source> source_;
  std::unique_ptr<Statement> statement_;
};

}  // namespace headway::trace::sqlite
