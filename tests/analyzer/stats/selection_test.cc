// SPDX-License-Identifier: MIT
#include "analyzer/stats/selection.h"

#include <doctest/doctest.h>

#include "analyzer/stats/tables.h"
#include "common/error.h"
#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedRun;
using test::PlantedRun;

std::int64_t integer(const Table& table, std::size_t row, std::string_view column) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].id == column) return std::get<std::int64_t>(table.rows.at(row)[c]);
  }
  FAIL("no column " << column);
  return 0;
}

std::int64_t kernels(const AnalyzedRun& run, const Filter& filter) {
  Selection selection(run.trace, run.analysis, filter);
  Table table = kernel_table(run.trace, run.analysis, selection);
  std::int64_t count = 0;
  for (std::size_t r = 0; r < table.rows.size(); ++r) count += integer(table, r, "count");
  return count;
}

/// Two phases of work per step: "forward" launches 3 kernels, "backward" 2, one call waits.
void build_phases(test::TraceBuilder& builder) {
  for (int s = 0; s < 10; ++s) {
    std::int64_t t = s * 100'000;
    builder.range(1, "step " + std::to_string(s), t, t + 90'000,
                  {.kind = trace::RangeKind::kStep, .step = s});
    builder.range(1, "forward", t, t + 30'000);
    for (int k = 0; k < 3; ++k)
      builder.launch(1, t + 1'000 * k, t + 1'000 * k + 500, t + 5'000 + 5'000 * k,
                     t + 9'000 + 5'000 * k, {.name = "f"});
    builder.range(1, "backward", t + 30'000, t + 60'000);
    for (int k = 0; k < 2; ++k)
      builder.launch(1, t + 31'000 + 1'000 * k, t + 31'500 + 1'000 * k, t + 35'000 + 5'000 * k,
                     t + 39'000 + 5'000 * k, {.name = "b", .phase = trace::Phase::kUpdate});
    builder.call(1, trace::DeviceCallKind::kStreamSynchronize, t + 60'000, t + 80'000);
  }
}

}  // namespace

TEST_CASE("one filter narrows every table alike: kernels, calls, ranges, steps") {
  test::TraceBuilder builder;
  build_phases(builder);
  AnalyzedRun run(builder);
  REQUIRE(run.analysis.steps.all.size() == 10);
  CHECK(kernels(run, {}) == 50);
  Filter steps{.steps = std::pair<std::int64_t, std::int64_t>{2, 4}};
  CHECK(kernels(run, steps) == 15);
  Filter backward{.range = "back*"};
  CHECK(kernels(run, backward) == 20);
  Filter both{.steps = std::pair<std::int64_t, std::int64_t>{2, 4}, .range = "backward"};
  CHECK(kernels(run, both) == 6);

  Selection selection(run.trace, run.analysis, both);
  CHECK(selection.text() == "Only steps 2 to 4, inside ranges 'backward'.");
  Table calls = call_table(run.trace, run.analysis, selection);
  REQUIRE(calls.rows.size() == 1);
  CHECK(integer(calls, 0, "count") == 6);
  Table ranges = range_table(run.trace, run.analysis, selection);
  REQUIRE(ranges.rows.size() == 1);
  CHECK(integer(ranges, 0, "count") == 3);
  CHECK(step_table(run.trace, run.analysis, selection).rows.size() == 3);
}

TEST_CASE("an op's filter keeps its work, the calls that launched it and their ranges") {
  test::TraceBuilder builder;
  build_phases(builder);
  AnalyzedRun run(builder);
  Filter filter{.op = "forward"};
  CHECK(kernels(run, filter) == 30);
  Selection selection(run.trace, run.analysis, filter);
  CHECK(integer(call_table(run.trace, run.analysis, selection), 0, "count") == 30);
  CHECK(integer(range_table(run.trace, run.analysis, selection), 0, "count") == 10);
}

TEST_CASE("tables that a filter does not reach say so") {
  test::TraceBuilder builder;
  build_phases(builder);
  AnalyzedRun run(builder);
  Selection selection(run.trace, run.analysis, {.range = "forward"});
  for (const TableDeclaration& declaration : table_declarations()) {
    Table table = declaration.make(run.trace, run.analysis, selection);
    CAPTURE(table.id);
    bool filtered = table.note.find("Only inside ranges 'forward'.") != std::string::npos;
    bool whole = table.note.find("The filter does not apply") != std::string::npos;
    CHECK(filtered != whole);
  }
}

TEST_CASE("a filter that fits nothing is an error with the legal names") {
  test::TraceBuilder builder;
  build_phases(builder);
  AnalyzedRun run(builder);
  auto error_of = [&](const Filter& filter) -> std::string {
    try {
      Selection(run.trace, run.analysis, filter);
    } catch (const Error& error) {
      CHECK(error.code() == ExitCode::kUsage);
      return error.what();
    }
    return "(no error)";
  };
  CHECK(error_of({.range = "foward"}).find("Did you mean forward") != std::string::npos);
  CHECK(error_of({.op = "bakward"}).find("Did you mean backward") != std::string::npos);
  CHECK(error_of({.steps = std::pair<std::int64_t, std::int64_t>{50, 60}}).find("steps 0 to 9") !=
        std::string::npos);
  CHECK(error_of({.ranks = {3}}).find("it has 0") != std::string::npos);
}

TEST_CASE("step numbers are written as a range, open at either end, or alone") {
  using Pair = std::pair<std::int64_t, std::int64_t>;
  CHECK(parse_steps("10:20") == Pair{10, 20});
  CHECK(parse_steps("10:") == Pair{10, INT64_MAX});
  CHECK(parse_steps(":20") == Pair{0, 20});
  CHECK(parse_steps("7") == Pair{7, 7});
  for (const char* wrong : {"", "a", "1-2", "3:1", "1:2:3", "-1:2", "99999999999999999999"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_steps(wrong), Error);
  }
}

TEST_CASE("shares of a filtered table are of the selected steps") {
  AnalyzedRun run(PlantedRun{.read = 600'000});
  Selection selection(run.trace, run.analysis,
                      {.steps = std::pair<std::int64_t, std::int64_t>{5, 9}});
  Table table = partition_table(run.trace, run.analysis, selection);
  std::int64_t sum = 0;
  double share = 0;
  for (const auto& row : table.rows) {
    sum += std::get<std::int64_t>(row[3]);
    share += std::get<double>(row[4]);
  }
  const DevicePartition& device = run.analysis.partitions.at(0);
  std::int64_t expected = 0;
  std::int64_t count = 0;
  for (const DeviceStep& step : device.steps) {
    std::int64_t number = run.analysis.steps.all[step.step].number;
    if (number < 5 || number > 9) continue;
    expected += step.interval.length().ns;
    ++count;
  }
  REQUIRE(count == 5);
  CHECK(sum == doctest::Approx(static_cast<double>(expected / count)).epsilon(1e-5));
  CHECK(share == doctest::Approx(1));
}

}  // namespace headway::analyzer
