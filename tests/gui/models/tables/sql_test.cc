// SPDX-License-Identifier: MIT
#include "gui/models/tables/sql.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "common/error.h"
#include "tests/gui/support/sessions.h"
#include "tests/support/temporary_folder.h"
#include "trace/sqlite/database.h"

namespace headway::gui {

TEST_CASE("tables are listed with what is known of them, and every example runs") {
  std::vector<SqlTable> tables = sql_tables(test::training_file());
  auto nvtx = std::find_if(tables.begin(), tables.end(),
                           [](const SqlTable& table) { return table.name == "NVTX_EVENTS"; });
  REQUIRE(nvtx != tables.end());
  CHECK(!nvtx->doc.empty());
  CHECK(nvtx->columns[0].name == "start");
  CHECK(!nvtx->columns[0].doc.empty());
  auto examples = sql_examples(tables);
  REQUIRE(examples.size() >= 3);
  std::atomic<bool> cancelled = false;
  for (const auto& [title, sql] : examples) {
    CAPTURE(title);
    CHECK(!run_sql(test::training_file(), sql, cancelled).table.table.columns.empty());
  }
}

TEST_CASE("rows with a start lead to that time, and long results are cut with a notice") {
  std::atomic<bool> cancelled = false;
  SqlAnswer answer = run_sql(test::training_file(),
                             "SELECT start, \"end\" FROM NVTX_EVENTS ORDER BY start", cancelled);
  REQUIRE(answer.table.views.size() == answer.table.table.rows.size());
  std::int64_t start = std::get<std::int64_t>(answer.table.table.rows[5][0]);
  std::int64_t end = std::get<std::int64_t>(answer.table.table.rows[5][1]);
  CHECK(answer.table.views[5].begin.ns <= start);
  CHECK(answer.table.views[5].end.ns >= end);
  SqlAnswer many = run_sql(test::training_file(),
                           "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
                           "50000) SELECT i FROM n",
                           cancelled);
  CHECK(many.cut);
  CHECK(many.table.table.rows.size() == kSqlRows);
  CHECK(many.text.find("Only the first") != std::string::npos);
  CHECK(many.table.views.empty());
}

TEST_CASE("what is wrong with a query is told in words, and nothing is written") {
  std::atomic<bool> cancelled = false;
  auto error = [&](const std::string& sql) -> std::string {
    try {
      run_sql(test::training_file(), sql, cancelled);
    } catch (const Error& wrong) {
      return wrong.what();
    }
    return "";
  };
  CHECK(error("SELEC 1").find("syntax error") != std::string::npos);
  CHECK(error("DROP TABLE NVTX_EVENTS").find("is refused") != std::string::npos);
  cancelled = true;
  CHECK(error("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM "
              "n") == "Cancelled.");
}

TEST_CASE("names are quoted as identifiers") {
  CHECK(sql_name("a\"b; DROP TABLE x") == "\"a\"\"b; DROP TABLE x\"");
  CHECK(is_sqlite(test::training_file()));
  CHECK(!is_sqlite("/nonexistent"));
}

TEST_CASE(
    "a preview says of how many rows it is the begin, and a file that is gone is said to be") {
  std::atomic<bool> cancelled = false;
  const SqlAnswer few =
      preview_table(test::training_file(), "TARGET_INFO_SESSION_START_TIME", cancelled);
  CHECK(!few.cut);
  test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "many rows.sqlite";
  std::filesystem::copy_file(test::training_file(), file);
  {
    trace::sqlite::Database db = trace::sqlite::Database::open(file);
    db.execute(
        "CREATE TABLE many AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
        "48211) SELECT i FROM n");
  }
  const SqlAnswer many = preview_table(file, "many", cancelled);
  CHECK(many.cut);
  CHECK(many.table.table.rows.size() == kPreviewRows);
  CHECK(many.text.find("211") != std::string::npos);
  std::filesystem::remove(file);
  CHECK_THROWS_WITH_AS(run_sql(file, "SELECT 1", cancelled), doctest::Contains("moved or deleted"),
                       Error);
}

}  // namespace headway::gui
