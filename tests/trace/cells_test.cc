// SPDX-License-Identifier: MIT
// A trace whose bytes are sound and whose cells are anybody's: it loads into what the rest of Headway
// relies on, or is refused as bad input.
#include <doctest/doctest.h>
#include <sqlite3.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "common/error.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/trace_builder.h"
#include "tests/support/training_trace.h"
#include "trace/load/load.h"
#include "trace/snapshot/format.h"

namespace headway::trace {
namespace {

class Cells {
 public:
  explicit Cells(const std::filesystem::path& path) {
    REQUIRE(sqlite3_open(path.c_str(), &db_) == SQLITE_OK);
  }
  ~Cells() { sqlite3_close(db_); }
  Cells(const Cells&) = delete;
  Cells& operator=(const Cells&) = delete;

  /// What the statement selects, row by row, its columns joined by a newline.
  std::vector<std::string> select(const std::string& sql) {
    std::vector<std::string> rows;
    sqlite3_exec(
        db_, sql.c_str(),
        [](void* to, int count, char** values, char**) {
          std::string row;
          for (int i = 0; i < count; ++i) row += (i ? "\n" : "") + std::string(values[i]);
          static_cast<std::vector<std::string>*>(to)->push_back(row);
          return 0;
        },
        &rows, nullptr);
    return rows;
  }
  /// False for a change that the tables do not allow.
  bool change(const std::string& sql) {
    return sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK;
  }

 private:
  sqlite3* db_ = nullptr;
};

constexpr auto kValues = std::to_array<const char*>({"NULL",
                                                     "-1",
                                                     "0",
                                                     "1",
                                                     "2",
                                                     "9",
                                                     "34",
                                                     "60",
                                                     "75",
                                                     "255",
                                                     "65536",
                                                     "999999",
                                                     "67108863",
                                                     "2147483647",
                                                     "2147483648",
                                                     "4294967294",
                                                     "4294967295",
                                                     "4294967296",
                                                     "1000000000000",
                                                     "9223372036854775807",
                                                     "-9223372036854775808",
                                                     "-2147483648",
                                                     "1e308",
                                                     "-0.5",
                                                     "''",
                                                     "'%s%n'",
                                                     "x'00ff'",
                                                     "'1 2 99999999999999999999 -7'",
                                                     "rowid",
                                                     "random()"});

std::string any_change(Cells& cells, const std::vector<std::string>& columns,
                       std::mt19937& random) {
  auto choose = [&](std::size_t count) { return random() % count; };
  const std::string& column = columns[choose(columns.size())];
  std::string table = column.substr(0, column.find('\n'));
  std::string name = column.substr(column.find('\n') + 1);
  std::vector<std::string> row =
      cells.select("SELECT rowid FROM \"" + table + "\" ORDER BY random() LIMIT 1");
  if (row.empty()) return "";
  std::string where = choose(4) == 0 ? " WHERE rowid%3=0" : " WHERE rowid=" + row.front();
  if (choose(10) == 0) return "DELETE FROM \"" + table + "\"" + where;
  return "UPDATE OR IGNORE \"" + table + "\" SET \"" + name +
         "\"=" + kValues[choose(kValues.size())] + where;
}

std::filesystem::path training_file(test::TraceBuilder& builder) {
  test::TrainingTrace training;
  training.steps = 3;
  training.blocks = 1;
  training.build(builder);
  builder.counter("process.cpu", "%", 5, 12.5);
  builder.io(2, IoOp::kRead, "/data/a.jpg", 6000, 16'000, 100'000);
  return builder.save();
}

}  // namespace

TEST_CASE("an id that the file does not list is an unknown name, counted") {
  for (const char* sql :
       {"UPDATE HEADWAY_DEVICE_CALL SET nameId=999999 WHERE rowid=1",
        "UPDATE HEADWAY_DEVICE_OP SET nameId=4294967295 WHERE rowid=1",
        "UPDATE NVTX_EVENTS SET textId=-1 WHERE rowid=3", "UPDATE HEADWAY_IO SET nameId=999999",
        "DELETE FROM StringIds WHERE id=(SELECT nameId FROM HEADWAY_DEVICE_OP WHERE rowid=1)"}) {
    CAPTURE(sql);
    test::TraceBuilder builder;
    auto path = training_file(builder);
    REQUIRE(Cells(path).change(sql));
    Trace trace = load(path);
    CHECK(snapshot_detail::problem_of(trace) == "");
    bool counted = false;
    for (const LossCount& loss : trace.losses) counted = counted || loss.name == "unknown_string";
    CHECK(counted);
  }
}

TEST_CASE("the number of a step that leaves no room for the next one is none") {
  test::TraceBuilder builder;
  const auto path = training_file(builder);
  const auto numbered = [&] {
    const Trace trace = load(path);
    std::int64_t count = 0;
    for (const RangeInfo& info : trace.range_info) count += info.step != conventions::kAbsent;
    return count;
  };
  const std::int64_t all = numbered();
  REQUIRE(all > 0);
  REQUIRE(Cells(path).change("UPDATE HEADWAY_RANGE SET step=1152921504606846976"));
  CHECK(numbered() > 0);
  REQUIRE(Cells(path).change("UPDATE HEADWAY_RANGE SET step=9223372036854775807"));
  CHECK(numbered() == 0);
}

TEST_CASE("whatever the cells hold, a trace that loads holds together") {
  test::TraceBuilder builder;
  const auto sound = training_file(builder);
  test::TemporaryFolder folder;
  const auto path = folder / "changed.sqlite";
  std::mt19937 random(20261123);
  int loaded = 0;
  for (int round = 0; round < 400; ++round) {
    std::filesystem::copy_file(sound, path, std::filesystem::copy_options::overwrite_existing);
    std::string changes;
    {
      Cells cells(path);
      std::vector<std::string> columns = cells.select(
          "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE "
          "m.type='table' AND m.name NOT LIKE 'sqlite%'");
      REQUIRE(columns.size() > 50);
      for (unsigned i = 0; i < 1 + random() % 4; ++i) {
        std::string sql = any_change(cells, columns, random);
        if (!sql.empty() && cells.change(sql)) changes += sql + ";\n";
      }
    }
    CAPTURE(round);
    CAPTURE(changes);
    try {
      Trace trace = load(path);
      ++loaded;
      CHECK(snapshot_detail::problem_of(trace) == "");
    } catch (const Error& error) {
      CAPTURE(error.what());
      CHECK(error.code() == ExitCode::kBadInput);
    }
  }
  CHECK(loaded > 300);
}

}  // namespace headway::trace
