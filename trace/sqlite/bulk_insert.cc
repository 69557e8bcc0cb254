// SPDX-License-Identifier: MIT
#include "trace/sqlite/bulk_insert.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <new>
#include <string>

#include "common/error.h"

namespace headway::trace::sqlite {

struct BulkInsert::Source {
  const TableDescription* table;
  const std::byte* rows = nullptr;
  std::size_t count = 0;
  std::size_t row_size = 0;
};

namespace {

// The virtual table: one per target table, its `Source` is the module's client data.
struct RowsTable : sqlite3_vtab {
  BulkInsert::Source* source;
};
struct RowsCursor : sqlite3_vtab_cursor {
  const BulkInsert::Source* source;
  std::size_t row;
};

int connect(sqlite3* db, void* client, int, const char* const*, sqlite3_vtab** out, char**) {
  auto* source = static_cast<BulkInsert::Source*>(client);
  std::string sql = "CREATE TABLE rows(";
  for (std::size_t i = 0; i < source->table->columns.size(); ++i)
    sql += fmt::format("{}c{}", i ? "," : "", i);
  int code = sqlite3_declare_vtab(db, (sql + ")").c_str());
  if (code != SQLITE_OK) return code;
  auto* table = new (std::nothrow) RowsTable{};
  if (!table) return SQLITE_NOMEM;
  table->source = source;
  *out = table;
  return SQLITE_OK;
}

int best_index(sqlite3_vtab*, sqlite3_index_info*) {
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* table) {
  delete static_cast<RowsTable*>(table);
  return SQLITE_OK;
}

int open_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** out) {
  auto* cursor = new (std::nothrow) RowsCursor{};
  if (!cursor) return SQLITE_NOMEM;
  cursor->source = static_cast<RowsTable*>(table)->source;
  *out = cursor;
  return SQLITE_OK;
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<RowsCursor*>(cursor);
  return SQLITE_OK;
}

int filter(sqlite3_vtab_cursor* cursor, int, const char*, int, sqlite3_value**) {
  static_cast<RowsCursor*>(cursor)->row = 0;
  return SQLITE_OK;
}

int next(sqlite3_vtab_cursor* cursor) {
  ++static_cast<RowsCursor*>(cursor)->row;
  return SQLITE_OK;
}

int at_end(sqlite3_vtab_cursor* cursor) {
  auto* rows = static_cast<RowsCursor*>(cursor);
  return rows->row >= rows->source->count;
}

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int index) {
  auto* rows = static_cast<RowsCursor*>(cursor);
  const BulkInsert::Source& source = *rows->source;
  source.table->columns[static_cast<std::size_t>(index)].result(
      context, source.rows + rows->row * source.row_size);
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* out) {
  *out = static_cast<sqlite3_int64>(static_cast<RowsCursor*>(cursor)->row);
  return SQLITE_OK;
}

const sqlite3_module* module() {
  static const sqlite3_module instance = [] {
    sqlite3_module m{};
    m.xConnect = connect;  // no xCreate: an eponymous table, which needs no CREATE VIRTUAL TABLE
    m.xBestIndex = best_index;
    m.xDisconnect = disconnect;
    m.xDestroy = disconnect;
    m.xOpen = open_cursor;
    m.xClose = close_cursor;
    m.xFilter = filter;
    m.xNext = next;
    m.xEof = at_end;
    m.xColumn = column;
    m.xRowid = row_id;
    return m;
  }();
  return &instance;
}

}  // namespace

BulkInsert::BulkInsert(Database& db, const TableDescription& table)
    : source_(std::make_unique<Source>()) {
  source_->table = &table;
  if (!db.has_table(table.name)) db.execute(create_table_sql(table));
  std::string rows = fmt::format("headway_rows_of_{}", table.name);
  int code = sqlite3_create_module_v2(db.handle(), rows.c_str(), module(), source_.get(), nullptr);
  if (code != SQLITE_OK)
    fail_internal("{}: cannot register the row source of {}", db.path().string(), table.name);
  statement_ = std::make_unique<Statement>(
      db.prepare(fmt::format("INSERT INTO {} SELECT * FROM {}", table.name, rows)));
}

BulkInsert::~BulkInsert() = default;
BulkInsert::BulkInsert(BulkInsert&&) noexcept = default;

void BulkInsert::insert(const void* rows, std::size_t count, std::size_t row_size) {
  source_->rows = static_cast<const std::byte*>(rows);
  source_->count = count;
  source_->row_size = row_size;
  statement_->step();
  statement_->reset();
  source_->count = 0;
}

}  // namespace headway::trace::sqlite
