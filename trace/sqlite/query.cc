// SPDX-License-Identifier: MIT
#include "trace/sqlite/query.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string_view>

#include "common/error.h"
#include "trace/file_head.h"
#include "trace/sqlite/database.h"

namespace headway::trace::sqlite {
namespace {

using Clock = std::chrono::steady_clock;

/// PRAGMAs that answer a question about the schema, with or without an argument.
constexpr std::array<std::string_view, 8> kAskingPragmas = {
    "table_info", "table_xinfo", "table_list",       "index_list",
    "index_info", "index_xinfo", "foreign_key_list", "compile_options"};

struct Refused {
  std::string what;  ///< the first thing that was refused
};

int authorize(void* data, int action, const char* first, const char* second, const char*,
              const char*) {
  auto& refused = *static_cast<Refused*>(data);
  auto refuse = [&](std::string what) {
    if (refused.what.empty()) refused.what = std::move(what);
    return SQLITE_DENY;
  };
  auto text = [](const char* value) { return std::string_view(value ? value : ""); };
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return text(second) == "load_extension" ? refuse("load_extension()") : SQLITE_OK;
    case SQLITE_PRAGMA:
      return std::find(kAskingPragmas.begin(), kAskingPragmas.end(), text(first)) !=
                     kAskingPragmas.end()
                 ? SQLITE_OK
                 : refuse(fmt::format("PRAGMA {}", text(first)));
    case SQLITE_ATTACH:
      return refuse("ATTACH");
    default:
      return refuse("a statement that writes");
  }
}

struct Deadline {
  Clock::time_point at;
  const std::atomic<bool>* cancel;
  bool passed = false;
  bool cancelled = false;
};

int check_deadline(void* data) {
  auto& deadline = *static_cast<Deadline*>(data);
  deadline.passed = deadline.passed || Clock::now() >= deadline.at;
  deadline.cancelled = deadline.cancelled || (deadline.cancel && *deadline.cancel);
  return deadline.passed || deadline.cancelled ? 1 : 0;
}

void require_sqlite(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path) || read_head(path, 15) != "SQLite format 3")
    fail_input(
        "{0}: not an SQLite file, but queries need one. Convert it first: headway import '{0}' -o "
        "trace.sqlite",
        path.string());
}

QueryValue value_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_BLOB: {
      const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(statement, column));
      std::string text = "X'";
      for (int i = 0; i < sqlite3_column_bytes(statement, column); ++i)
        text += fmt::format("{:02x}", bytes[i]);
      return text + "'";
    }
    default: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      return std::string(text ? text : "",
                         static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
    }
  }
}

bool only_space_and_comments(sqlite3* db, const char* rest) {
  // SQLite itself decides: if the rest compiles to no statement, there is no second statement.
  for (; rest && *rest; ++rest) {
    if (*rest != ';' && *rest != ' ' && *rest != '\n' && *rest != '\t' && *rest != '\r') break;
  }
  if (!rest || !*rest) return true;
  sqlite3_stmt* next = nullptr;
  int code = sqlite3_prepare_v2(db, rest, -1, &next, nullptr);
  bool none = code == SQLITE_OK && next == nullptr;
  sqlite3_finalize(next);
  return none;
}

}  // namespace

QueryResult query(const std::filesystem::path& path, const std::string& sql,
                  const QueryLimits& limits) {
  require_sqlite(path);
  Database database = Database::open_read_only(path);
  sqlite3* db = database.handle();
  Refused refused;
  Deadline deadline{Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(limits.seconds)),
                    limits.cancelled};
  sqlite3_set_authorizer(db, authorize, &refused);
  sqlite3_progress_handler(db, 10'000, check_deadline, &deadline);
  auto fail_sql = [&] {
    if (!refused.what.empty())
      fail_usage("{} is refused: queries are read-only. {} is not changed.", refused.what,
                 path.string());
    if (deadline.cancelled) fail_usage("Cancelled.");
    if (deadline.passed)
      fail_usage("stopped after {:g} s. Narrow the query, or allow more time.", limits.seconds);
    fail_usage(
        "{}. SELECT name FROM sqlite_master lists the tables; docs/reference/tables.md explains "
        "them.",
        sqlite3_errmsg(db));
  };
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &raw, &rest) != SQLITE_OK) fail_sql();
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
  if (!statement) fail_usage("no statement.");
  if (!only_space_and_comments(db, rest))
    fail_usage("only one statement is allowed; text follows the first ';'.");
  QueryResult result;
  int columns = sqlite3_column_count(statement.get());
  for (int c = 0; c < columns; ++c)
    result.columns.emplace_back(sqlite3_column_name(statement.get(), c));
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement.get())) == SQLITE_ROW) {
    if (result.rows.size() == limits.rows) {
      result.cut = true;
      return result;
    }
    std::vector<QueryValue>& row = result.rows.emplace_back();
    for (int c = 0; c < columns; ++c) row.push_back(value_of(statement.get(), c));
  }
  if (code != SQLITE_DONE) fail_sql();
  return result;
}

std::vector<TableInfo> list_tables(const std::filesystem::path& path) {
  require_sqlite(path);
  Database database = Database::open_read_only(path);
  std::vector<TableInfo> tables;
  Statement names = database.prepare(
      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' "
      "ORDER BY rowid");
  while (names.step()) tables.push_back({std::string(names.text(0)), {}});
  for (TableInfo& table : tables) {
    try {
      Statement columns = database.prepare("SELECT name, type FROM pragma_table_info(?)");
      columns.bind(1, table.name);
      while (columns.step())
        table.columns.emplace_back(std::string(columns.text(0)), std::string(columns.text(1)));
    } catch (const Error&) {
      // A view that does not compile has no columns here; a query on it says why.
    }
  }
  return tables;
}

}  // namespace headway::trace::sqlite
