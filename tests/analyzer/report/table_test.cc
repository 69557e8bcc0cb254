// SPDX-License-Identifier: MIT
#include "analyzer/stats/table.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "analyzer/stats/tables.h"
#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {
namespace {

Table sample() {
  Table table{"t", "Title", "note", {}, {}};
  table.columns = {{"name", "Name", ColumnKind::kText},
                   {"total_ns", "Total", ColumnKind::kDuration},
                   {"share", "Share", ColumnKind::kPercent}};
  table.rows = {{std::string("a,\"b\"\n"), std::int64_t{1'500'000}, 0.25},
                {std::string("東京"), std::int64_t{20}, Cell()}};
  return table;
}

}  // namespace

TEST_CASE("text tables align by characters, not bytes, and say what was left out") {
  CHECK(to_text(sample()) ==
        "Name      Total   Share\n"
        "a,\"b\"\uFFFD  1.50 ms  25.0 %\n"
        "東京        20 ns\n");
  CHECK(to_text(sample(), {.max_rows = 1, .indent = "  "}).ends_with("  … 1 more rows\n"));
}

TEST_CASE("sentences in the last column take more lines instead of losing words") {
  const std::string claim =
      "122 blocking calls per step drain the queue; the device then idles 75 % of the step.";
  Table table{"findings",
              "Findings",
              "",
              {{"rule", "Rule"}, {"step", "Per step", ColumnKind::kDuration}, {"claim", "Claim"}},
              {{std::string("host-sync"), std::int64_t{1'280'000}, claim},
               {std::string("padding"), std::int64_t{20}, std::string("Short.")}}};
  CHECK(to_text(table, {.width = 65, .indent = {}}) ==
        "Rule       Per step  Claim\n"
        "host-sync   1.28 ms  122 blocking calls per step drain the queue;\n"
        "                     the device then idles 75 % of the step.\n"
        "padding       20 ns  Short.\n");
  // Where they have no room beside the figures, they stand below.
  CHECK(to_text(table, {.width = 40, .indent = {}}) ==
        "Rule       Per step\n"
        "host-sync   1.28 ms\n"
        "    122 blocking calls per step drain\n"
        "    the queue; the device then idles 75\n"
        "    % of the step.\n"
        "padding       20 ns\n"
        "    Short.\n");
}

TEST_CASE("CSV quotes what must be quoted and keeps raw numbers") {
  CHECK(to_csv(sample()) ==
        "name,total_ns,share\r\n\"a,\"\"b\"\"\n\",1500000,0.25\r\n東京,20,\r\n");
}

TEST_CASE("JSON keeps raw numbers and null for what is not known") {
  auto json = to_json(sample());
  CHECK(json["rows"][0]["total_ns"] == 1'500'000);
  CHECK(json["rows"][1]["share"].is_null());
}

TEST_CASE("every table of a real run has a cell for every column, in every format") {
  test::AnalyzedRun run(test::PlantedRun{.read = 600'000, .copy = 200'000});
  for (const TableDeclaration& declaration : table_declarations()) {
    CAPTURE(declaration.id);
    Table table = declaration.make(run.trace, run.analysis);
    CHECK(table.id == declaration.id);
    for (const auto& row : table.rows) CHECK(row.size() == table.columns.size());
    CHECK(!to_text(table).empty());
    CHECK(!to_csv(table).empty());
    CHECK(nlohmann::json::accept(to_json(table).dump()));
  }
}

TEST_CASE("the partition table sums to the step") {
  test::AnalyzedRun run(test::PlantedRun{.read = 600'000, .copy = 200'000});
  Table table = partition_table(run.trace, run.analysis);
  std::int64_t sum = 0;
  for (const auto& row : table.rows) sum += std::get<std::int64_t>(row[3]);
  CHECK(sum == run.analysis.partitions[0].per_steady_step.total().ns);
}

TEST_CASE("loader threads of one name are one worker, whose shares are of their summed lives") {
  test::TraceBuilder builder;
  for (std::int32_t thread : {5, 6}) {
    std::int64_t begin = thread * 1000;
    builder.thread_name(thread, "worker");
    builder.range(thread, "batch", begin, begin + 100, {.kind = trace::RangeKind::kBatch});
    builder.range(thread, "read", begin, begin + 25,
                  {.kind = trace::RangeKind::kRead, .bytes = 10});
  }
  Table table = loader_table(builder.load(), {});
  REQUIRE(table.rows.size() == 2);
  for (const auto& row : table.rows) {
    CHECK(std::get<std::string>(row[0]) == "worker (2 threads)");
    CHECK(std::get<std::int64_t>(row[2]) == 2);
  }
  CHECK(std::get<double>(table.rows[0][5]) == doctest::Approx(1));
  CHECK(std::get<double>(table.rows[1][5]) == doctest::Approx(0.25));
  CHECK(std::get<std::int64_t>(table.rows[1][8]) == 20);
}

TEST_CASE("a stage that reads files is split into reading and the rest, for all workers together") {
  test::TraceBuilder builder;
  for (std::int32_t thread : {5, 6}) {
    builder.thread_name(thread, thread == 5 ? "loader 0" : "loader 1");
    builder.range(thread, "batch", 0, 100, {.kind = trace::RangeKind::kBatch});
    builder.range(thread, "samples", 0, 70, {.kind = trace::RangeKind::kDecode});
    builder.io(thread, trace::IoOp::kOpen, "/data/a", 0, 5, 0);
    builder.io(thread, trace::IoOp::kRead, "/data/a", 5, 20, 1000);
    builder.io(thread, trace::IoOp::kWrite, "/data/log", 30, 40, 10);
    builder.range(thread, "collate", 70, 100, {.kind = trace::RangeKind::kCollate});
  }
  Table table = loader_table(builder.load(), {});
  REQUIRE(table.rows.size() == 3 * 4);
  const std::pair<const char*, std::int64_t> expected[] = {
      {"whole batch", 200}, {"read", 40}, {"decode", 100}, {"collate", 60}};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(std::get<std::string>(table.rows[i][0]) == "all 2");
    CHECK(std::get<std::string>(table.rows[i][1]) == expected[i].first);
    CHECK(std::get<std::int64_t>(table.rows[i][4]) == expected[i].second);
  }
  CHECK(std::get<std::int64_t>(table.rows[1][8]) == 2000);
}

}  // namespace headway::analyzer
