// SPDX-License-Identifier: MIT
#include "analyzer/check/budget.h"

#include <doctest/doctest.h>

#include <fstream>

#include "common/error.h"
#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {
namespace {

using Outcome = LimitResult::Outcome;

/// Outcomes of the limits in `toml` on `run`, in the order of the file's sorted keys.
std::vector<LimitResult> check(const test::AnalyzedRun& run, const std::string& toml) {
  test::TemporaryFolder folder;
  std::ofstream(folder / "budget.toml") << toml;
  std::vector<Metric> known = metrics(run.trace, run.analysis);
  return check_budget(read_budget(folder / "budget.toml", known), known);
}

std::string error_of(const std::string& toml) {
  test::AnalyzedRun run(test::PlantedRun{});
  try {
    check(run, toml);
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace

TEST_CASE("limits are kept or broken, written as tables or with dots, as text or number") {
  test::AnalyzedRun run(test::PlantedRun{.read = 600'000});
  auto results =
      check(run, "[step_ms]\np50 = \"< 1\"\np90 = 100\n[class_pct]\nio_read = \">= 10 %\"\n");
  REQUIRE(results.size() == 3);
  for (const LimitResult& result : results) {
    CAPTURE(result.limit.metric);
    CHECK(result.outcome ==
          (result.limit.metric == "step_ms.p50" ? Outcome::kBroken : Outcome::kKept));
  }
  CHECK(check(run, "\"finding.host-sync\" = \"forbid\"\n")[0].outcome == Outcome::kKept);
  CHECK(check(run, "finding.input-bound = \"forbid\"\n")[0].outcome == Outcome::kBroken);
  CHECK(check(run, "finding.input-bound = \"< 50 %\"\n")[0].outcome == Outcome::kKept);
}

TEST_CASE("what the trace cannot tell is neither kept nor broken") {
  test::TraceBuilder builder;
  builder.launch(1, 0, 5, 10, 20, {});
  test::AnalyzedRun run(builder);
  CHECK(check(run, "step_ms.p50 = \"< 100\"\n")[0].outcome == Outcome::kCannotTell);
}

TEST_CASE("mistakes in a budget are named with file, line and remedy") {
  CHECK(error_of("step_ms.p51 = 3\n").find("Did you mean step_ms.p50") != std::string::npos);
  CHECK(error_of("\n\nstep_ms.p50 = \"fast\"\n").find("budget.toml:3") != std::string::npos);
  CHECK(error_of("step_ms.p50 = [1]\n").find("expected a limit") != std::string::npos);
  CHECK(error_of("step_ms.p50 = \n").find("not valid TOML") != std::string::npos);
  CHECK(error_of("").find("holds no limit") != std::string::npos);
  CHECK_THROWS_WITH_AS(read_budget("/nowhere/b.toml", {}), doctest::Contains("no such file"),
                       Error);
}

}  // namespace headway::analyzer
