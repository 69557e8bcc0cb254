// SPDX-License-Identifier: MIT
#include "trace/sqlite/select.h"

#include <sqlite3.h>

#include "common/error.h"

namespace headway::trace::sqlite::detail {
namespace {

struct Visitor {
  void* client;
  void (*visit)(void* client, sqlite3_value** values);
  std::exception_ptr error;
};

void step(sqlite3_context* context, int, sqlite3_value** values) {
  auto& visitor = *static_cast<Visitor*>(sqlite3_user_data(context));
  if (visitor.error) return;
  try {
    visitor.visit(visitor.client, values);
  } catch (...) {  // an exception must not cross SQLite's C frames
    visitor.error = std::current_exception();
    sqlite3_result_error(context, "visit failed", -1);
  }
}

void finish(sqlite3_context* context) {
  sqlite3_result_null(context);
}

}  // namespace

bool is_null(sqlite3_value* value) {
  return sqlite3_value_type(value) == SQLITE_NULL;
}
std::int64_t int64_of(sqlite3_value* value) {
  return sqlite3_value_int64(value);
}
double real_of(sqlite3_value* value) {
  return sqlite3_value_double(value);
}
std::string_view text_of(sqlite3_value* value) {
  const auto* data = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (!data) return {};
  return {data, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

void run_visits(const Database& db, const std::string& sql, void* client,
                void (*visit)(void* client, sqlite3_value** values)) {
  Visitor visitor{client, visit, nullptr};
  int code = sqlite3_create_function_v2(db.handle(), "headway_visit", -1, SQLITE_UTF8, &visitor,
                                        nullptr, step, finish, nullptr);
  HEADWAY_INVARIANT(code == SQLITE_OK);
  try {
    Statement statement = db.prepare(sql);
    while (statement.step()) {
    }
  } catch (const Error&) {
    if (visitor.error) std::rethrow_exception(visitor.error);
    throw;
  }
  if (visitor.error) std::rethrow_exception(visitor.error);
}

void fail_order(const Database& db, std::string_view table, std::int64_t row_id) {
  fail_input(
      "{}: the SQLite file is corrupt (the row ids of {} do not ascend at {}). Save what is "
      "readable with: sqlite3 '{}' .recover | sqlite3 saved.sqlite",
      db.path().string(), table, row_id, db.path().string());
}

}  // namespace headway::trace::sqlite::detail
