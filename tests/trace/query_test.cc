// SPDX-License-Identifier: MIT
#include "trace/sqlite/query.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "common/error.h"
#include "tests/support/trace_builder.h"

namespace headway::trace::sqlite {
namespace {

std::filesystem::path make_trace(test::TraceBuilder& builder) {
  builder.range(1, "step", 0, 100);
  builder.range(1, "step", 100, 200);
  return builder.save();
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string error_of(const std::filesystem::path& path, const std::string& sql,
                     double seconds = 60) {
  try {
    query(path, sql, {.seconds = seconds});
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace

TEST_CASE("a query gives columns and values of every type") {
  test::TraceBuilder builder;
  auto path = make_trace(builder);
  QueryResult result =
      query(path, "SELECT 1 AS a, 2.5 AS b, 'x' AS c, NULL AS d, X'00ff' AS e;", {.seconds = 5});
  CHECK(result.columns == std::vector<std::string>{"a", "b", "c", "d", "e"});
  REQUIRE(result.rows.size() == 1);
  CHECK(std::get<std::int64_t>(result.rows[0][0]) == 1);
  CHECK(std::get<double>(result.rows[0][1]) == 2.5);
  CHECK(std::get<std::string>(result.rows[0][2]) == "x");
  CHECK(std::holds_alternative<std::monostate>(result.rows[0][3]));
  CHECK(std::get<std::string>(result.rows[0][4]) == "X'00ff'");
  CHECK(std::get<std::int64_t>(
            query(path, "WITH r AS (SELECT * FROM NVTX_EVENTS) SELECT count(*) FROM r", {})
                .rows[0][0]) == 2);
  CHECK(!query(path, "PRAGMA table_info(NVTX_EVENTS)", {}).rows.empty());
}

TEST_CASE("a query changes nothing and reaches no other file") {
  test::TraceBuilder builder;
  auto path = make_trace(builder);
  std::string before = bytes_of(path);
  auto other = path.parent_path() / "other.sqlite";
  for (const std::string& sql :
       {std::string("DELETE FROM NVTX_EVENTS"), std::string("UPDATE NVTX_EVENTS SET start = 0"),
        std::string("DROP TABLE NVTX_EVENTS"), std::string("CREATE TABLE x(a)"),
        std::string("CREATE TEMP TABLE x(a)"), std::string("INSERT INTO StringIds VALUES (9, 'x')"),
        "ATTACH '" + other.string() + "' AS o", "VACUUM INTO '" + other.string() + "'",
        std::string("PRAGMA journal_mode=DELETE"), std::string("PRAGMA user_version=7"),
        std::string("PRAGMA writable_schema=ON"), std::string("SELECT load_extension('x')"),
        std::string("BEGIN")}) {
    CAPTURE(sql);
    std::string error = error_of(path, sql);
    CAPTURE(error);
    CHECK((error.find("is refused") != std::string::npos ||
           error.find("load_extension") != std::string::npos));
  }
  CHECK(bytes_of(path) == before);
  CHECK(!std::filesystem::exists(other));
}

TEST_CASE("wrong, several, missing and endless statements are told apart") {
  test::TraceBuilder builder;
  auto path = make_trace(builder);
  CHECK(error_of(path, "SELEC 1").find("syntax error") != std::string::npos);
  CHECK(error_of(path, "SELECT * FROM missing").find("no such table") != std::string::npos);
  CHECK(error_of(path, "SELECT 1; DELETE FROM NVTX_EVENTS").find("statement") != std::string::npos);
  CHECK(error_of(path, "SELECT 1; -- done") == "(no error)");
  CHECK(error_of(path, "  -- nothing").find("no statement") != std::string::npos);
  auto begin = std::chrono::steady_clock::now();
  CHECK(error_of(path,
                 "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) "
                 "FROM n",
                 0.2)
            .find("stopped after 0.2 s") != std::string::npos);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
}

TEST_CASE("a query stops at the rows that were asked for and says that there are more") {
  test::TraceBuilder builder;
  auto path = make_trace(builder);
  const std::string three = "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3";
  QueryResult some = query(path, three, {.rows = 2});
  CHECK(some.rows.size() == 2);
  CHECK(some.cut);
  CHECK(!query(path, three, {.rows = 3}).cut);
}

TEST_CASE("a query is cancelled from another thread") {
  test::TraceBuilder builder;
  auto path = make_trace(builder);
  std::atomic<bool> cancelled = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancelled = true;
  });
  std::string error;
  try {
    query(path,
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n",
          {.cancelled = &cancelled});
  } catch (const Error& stopped) {
    error = stopped.what();
  }
  other.join();
  CHECK(error == "Cancelled.");
}

TEST_CASE("tables and views are listed with their columns, whatever they are called") {
  test::TraceBuilder builder;
  auto path = make_trace(builder);
  std::vector<TableInfo> tables = list_tables(path);
  auto found = std::find_if(tables.begin(), tables.end(),
                            [](const TableInfo& table) { return table.name == "NVTX_EVENTS"; });
  REQUIRE(found != tables.end());
  CHECK(std::find(found->columns.begin(), found->columns.end(),
                  std::pair<std::string, std::string>("start", "INTEGER")) != found->columns.end());
}

TEST_CASE("a file that is no SQLite file names the way to make one") {
  test::TemporaryFolder folder;
  std::ofstream(folder / "trace.json") << "{\"traceEvents\": []}      ";
  CHECK(error_of(folder / "trace.json", "SELECT 1").find("headway import") != std::string::npos);
  CHECK(error_of(folder.path(), "SELECT 1").find("headway import") != std::string::npos);
  CHECK(error_of(folder / "none.sqlite", "SELECT 1").find("No such file") != std::string::npos);
}

}  // namespace headway::trace::sqlite
