// SPDX-License-Identifier: MIT
#include "analyzer/check/budget.h"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "analyzer/check/check_report.h"
#include "common/error.h"
#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {
namespace {

using Outcome = LimitResult::Outcome;
using test::AnalyzedRun;
using test::PlantedRun;

Budget budget_of(const std::string& toml) {
  test::TemporaryFolder folder;
  std::ofstream(folder / "budget.toml") << toml;
  return read_budget(folder / "budget.toml");
}

/// Outcomes of the limits in `toml` on `run`, in the order of the file.
std::vector<LimitResult> check(const AnalyzedRun& run, const std::string& toml,
                               const AnalyzedRun* baseline = nullptr) {
  std::optional<DiffRun> base;
  if (baseline) base.emplace(DiffRun{baseline->trace, baseline->analysis});
  return check_budget(budget_of(toml), {{run.trace, run.analysis}, base ? &*base : nullptr});
}

std::string error_of(const std::string& toml) {
  try {
    budget_of(toml);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::kBadInput);
    return error.what();
  }
  return "(no error)";
}

void expect(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  CHECK(text.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("limits are kept or broken, written as tables or with dots, as text or number") {
  AnalyzedRun run(PlantedRun{.read = 600'000});
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

TEST_CASE("a broken limit fails as error, and passes as warning") {
  AnalyzedRun run(PlantedRun{.read = 600'000});
  struct Case {
    const char* toml;
    Outcome outcome;
    bool over;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"finding.input-bound = \"warn\"\n", Outcome::kWarned, false},
           {"finding.input-bound = \"allow\"\n", Outcome::kKept, false},
           {"finding.input-bound = { limit = \"forbid\", severity = \"warn\" }\n", Outcome::kWarned,
            false},
           {"finding.input-bound = { limit = \"forbid\", severity = \"error\" }\n",
            Outcome::kBroken, true},
           {"step_ms.p50 = { limit = \"< 0.001\", severity = \"warn\" }\n", Outcome::kWarned,
            false},
           {"step_ms.p50 = { limit = 0.001 }\n", Outcome::kBroken, true}}) {
    CAPTURE(c.toml);
    auto results = check(run, c.toml);
    REQUIRE(results.size() == 1);
    CHECK(results[0].outcome == c.outcome);
    CHECK(over_budget(results, false) == c.over);
  }
}

TEST_CASE("what the trace cannot tell is neither kept nor broken, and fails unless allowed") {
  test::TraceBuilder builder;
  builder.launch(1, 0, 5, 10, 20, {});
  AnalyzedRun run(builder);
  auto results = check(run, "step_ms.p50 = \"< 100\"\n");
  CHECK(results[0].outcome == Outcome::kCannotTell);
  CHECK(over_budget(results, false));
  CHECK(!over_budget(results, true));
}

TEST_CASE("ops and kernels are limited by name, with dots and globs in it") {
  AnalyzedRun run(PlantedRun{.kernels = 10, .kernel = 100'000, .update_kernels = 2});
  auto actual = [&](const std::string& key) {
    auto results = check(run, key + " = \">= 0\"\n");
    CAPTURE(key);
    CAPTURE(results[0].note);
    REQUIRE(results[0].actual);
    return *results[0].actual;
  };
  CHECK(actual("kernel.kernel.ms") == doctest::Approx(1.0));
  CHECK(actual("kernel.\"k*\".count") == doctest::Approx(10));
  CHECK(actual("kernel.update.count") == doctest::Approx(2));
  CHECK(actual("kernel_count") == doctest::Approx(12));
  CHECK(actual("op.\"*\".kernels") == doctest::Approx(12));
  auto missing = check(run, "kernel.\"kernal\".ms = \"< 1\"\n");
  CHECK(missing[0].outcome == Outcome::kCannotTell);
  expect(missing[0].note, "near: kernel");
}

TEST_CASE("against a baseline only growth that is significant and beyond the limit breaks") {
  AnalyzedRun base(PlantedRun{.steps = 30});
  AnalyzedRun slower(PlantedRun{.steps = 30, .kernel = 110'000});
  AnalyzedRun few(PlantedRun{.steps = 3});
  auto step = [&](const AnalyzedRun& run, const char* limit, const AnalyzedRun& against) {
    return check(run, std::string("vs_baseline.step = \"") + limit + "\"\n", &against)[0];
  };
  LimitResult grown = step(slower, "+3%", base);
  CHECK(grown.outcome == Outcome::kBroken);
  CHECK(*grown.actual == doctest::Approx(9.5).epsilon(0.1));
  expect(grown.note, "significant");
  CHECK(step(slower, "+20%", base).outcome == Outcome::kKept);
  CHECK(step(base, "+3%", slower).outcome == Outcome::kKept);
  LimitResult same = step(base, "+0%", base);
  CHECK(same.outcome == Outcome::kKept);
  expect(same.note, "not significant; changes of 0.1 % or more are detectable");
  LimitResult unknown = step(few, "+3%", base);
  CHECK(unknown.outcome == Outcome::kCannotTell);
  expect(unknown.note, "too few");
}

TEST_CASE("pauses break the step's budget and keep the typical step's") {
  auto run = [](std::int64_t longer) {
    test::TraceBuilder builder;
    std::int64_t t = 0;
    for (int i = 0; i < 160; ++i) {
      const std::int64_t step = 607'000 + (i * 7919 % 13) * 100 + (i % 40 == 0 ? longer : 0);
      builder.range(1, "step", t, t + step, {.kind = trace::RangeKind::kStep, .step = i});
      builder.range(1, "conv2d", t, t + 500'000);
      t += step;
    }
    return AnalyzedRun(builder);
  };
  AnalyzedRun base = run(0);
  AnalyzedRun pauses = run(198'000'000);
  auto results = check(pauses,
                       "vs_baseline.step = \"+3%\"\nvs_baseline.typical_step = \"+3%\"\n"
                       "step_cost_ms = \"< 1\"\ntypical_step_ms = \"< 1\"\n",
                       &base);
  REQUIRE(results.size() == 4);
  CHECK(results[0].outcome == Outcome::kBroken);
  CHECK(*results[0].actual > 500);
  CHECK(results[1].outcome == Outcome::kKept);
  CHECK(results[2].outcome == Outcome::kBroken);
  CHECK(results[3].outcome == Outcome::kKept);
  CHECK(check(base, "vs_baseline.step = \"+3%\"\n", &pauses)[0].outcome == Outcome::kKept);
}

TEST_CASE("a class that was not there in the baseline grows by its share of the baseline's step") {
  AnalyzedRun base(PlantedRun{.steps = 30});
  AnalyzedRun reading(PlantedRun{.steps = 30, .read = 200'000});
  LimitResult result = check(reading, "vs_baseline.class.io_read = \"+3%\"\n", &base)[0];
  CHECK(result.outcome == Outcome::kBroken);
  double step = static_cast<double>(base.analysis.step_cost.per_step().ns);
  CHECK(*result.actual ==
        doctest::Approx(100.0 * static_cast<double>(reading.ns(TimeClass::kIoRead)) / step)
            .epsilon(0.05));
  CHECK(check(base, "vs_baseline.class.io_read = \"+3%\"\n", &base)[0].outcome == Outcome::kKept);
}

TEST_CASE("mistakes in a budget are named with file, line and remedy") {
  expect(error_of("step_ms.p51 = 3\n"), "Did you mean step_ms.p50");
  expect(error_of("vs_baseline.stpe = \"+3%\"\n"), "Did you mean vs_baseline.step");
  expect(error_of("[options]\nstep_rang = \"x\"\n"), "Did you mean options.step_range");
  expect(error_of("\n\nstep_ms.p50 = \"fast\"\n"), "budget.toml:3");
  expect(error_of("step_ms.p50 = [1]\n"), "expected a limit");
  expect(error_of("step_ms.p50 = \"forbid\"\n"), "expected a limit");
  expect(error_of("finding.host-sync = \"forbiden\"\n"), "\"forbid\", \"warn\", \"allow\"");
  expect(error_of("vs_baseline.step = \"-3%\"\n"), "such as \"+3%\"");
  expect(error_of("vs_baseline.step = \"> 3%\"\n"), "such as \"+3%\"");
  expect(error_of("step_ms.p50 = { limit = 3, severity = \"mild\" }\n"), "severity error or warn");
  expect(error_of("[options]\nskip_steps = -1\n"), "expected a number of steps");
  expect(error_of("op.conv.seconds = 3\n"), "is not a metric");
  expect(error_of("step_ms.p50 = \n"), "not valid TOML");
  expect(error_of(""), "--init");
  std::string deep = "a";
  for (int i = 0; i < 40'000; ++i) deep += ".a";
  expect(error_of("[step_ms]\np50 = 3\n" + deep + " = 1\n"), "budget.toml:3: keys nested");
  expect(error_of("[" + deep + "]\nb = 1\n"), "keys nested");
  expect(error_of(std::string(2 << 20, '#')), "is larger than");
  CHECK_THROWS_WITH_AS(read_budget("/nowhere/b.toml"), doctest::Contains("No such file"), Error);
  CHECK_THROWS_WITH_AS(read_budget("/dev/zero"), doctest::Contains("is not a regular file"), Error);
}

TEST_CASE("options of the budget set the analysis, and a baseline is found beside the file") {
  Budget budget = budget_of(
      "[options]\nstep_range = \"epoch*\"\nskip_steps = 3\nbaseline = \"base.sqlite\"\n"
      "allow_unknown = true\n[step_ms]\np50 = 3\n");
  CHECK(budget.analysis.steps.range == "epoch*");
  CHECK(budget.analysis.steps.skip == 3);
  CHECK(budget.allow_unknown);
  CHECK(std::filesystem::path(budget.baseline) == budget.path.parent_path() / "base.sqlite");
  CHECK(!budget.needs_baseline());
}

TEST_CASE("the starter budget of a run is legal, and the run keeps it") {
  for (const PlantedRun& planted :
       {PlantedRun{}, PlantedRun{.read = 600'000, .copy = 200'000}, PlantedRun{.steps = 3}}) {
    AnalyzedRun run(planted);
    run.trace.path = "run\n[step_ms]\np50 = 0 #\x1b[2J";
    std::string toml = starter_budget(run.trace, run.analysis);
    CAPTURE(toml);
    auto results = check(run, toml);
    CHECK(!over_budget(results, false));
    CHECK(results.size() >= 5);
    CHECK(toml.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("a finished check reads the same in every format") {
  AnalyzedRun run(PlantedRun{.read = 600'000});
  Budget budget = budget_of(
      "[finding]\ninput-bound = \"forbid\"\nhost-sync = \"forbid\"\n[step_ms]\np50 = { limit = \"< "
      "0.1\", severity = \"warn\" }\n");
  CheckInput input{{run.trace, run.analysis}, nullptr};
  std::vector<LimitResult> results = check_budget(budget, input);
  CheckReport report{budget, results, input, over_budget(results, false), "0.0.0"};
  std::string text = check_text(report, 110);
  expect(text, "Over budget: 1 of 3 limits kept, 1 broken, 1 warned.");
  CHECK(text.find("finding.input-bound") < text.find("finding.host-sync"));
  expect(check_markdown(report), "## Headway: Over budget");
  auto json = nlohmann::json::parse(check_json(report));
  CHECK(json["over_budget"] == true);
  CHECK(json["limits"][0]["outcome"] == "broken");
  CHECK(json["limits"][0]["line"] == 2);
  std::string junit = check_junit(report);
  expect(junit, "tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"0\"");
  auto sarif = nlohmann::json::parse(check_sarif(report));
  const auto& first = sarif["runs"][0]["results"][0];
  CHECK(first["level"] == "error");
  CHECK(first["locations"][0]["physicalLocation"]["region"]["startLine"] == 2);
  CHECK(sarif["runs"][0]["results"][1]["kind"] == "pass");
  CHECK(sarif["runs"][0]["results"][2]["level"] == "warning");
}

}  // namespace headway::analyzer
