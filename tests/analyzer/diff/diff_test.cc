// SPDX-License-Identifier: MIT
#include "analyzer/diff/diff.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {
namespace {

using test::AnalyzedRun;
using test::PlantedRun;

Diff compare(const PlantedRun& a, const PlantedRun& b) {
  AnalyzedRun run_a(a);
  AnalyzedRun run_b(b);
  return diff({run_a.trace, run_a.analysis}, {run_b.trace, run_b.analysis});
}

}  // namespace

TEST_CASE("a run without the waits is faster by what they cost") {
  Diff d = compare(PlantedRun{.read = 1'050'000}, PlantedRun{});
  CHECK(d.verdict == DiffVerdict::kFaster);
  CHECK(d.change == doctest::Approx(-0.502).epsilon(0.01));
  CHECK(d.sentence.find("faster by 2.01×") != std::string::npos);
  bool listed = false;
  for (const std::string& change : d.findings)
    listed = listed || change.starts_with("input-bound: ");
  CHECK(listed);
}

TEST_CASE("the other way round it is slower, and equal runs are the same") {
  CHECK(compare(PlantedRun{}, PlantedRun{.copy = 300'000}).verdict == DiffVerdict::kSlower);
  CHECK(compare(PlantedRun{}, PlantedRun{}).verdict == DiffVerdict::kSame);
}

TEST_CASE("few steps are inconclusive") {
  Diff d = compare(PlantedRun{.steps = 4}, PlantedRun{.steps = 4, .read = 900'000});
  CHECK(d.verdict == DiffVerdict::kInconclusive);
  CHECK(d.sentence.find("too few") != std::string::npos);
}

TEST_CASE("the class table sums to the steps and the JSON is valid") {
  AnalyzedRun a(PlantedRun{.read = 400'000});
  AnalyzedRun b(PlantedRun{.copy = 200'000});
  Diff d = diff({a.trace, a.analysis}, {b.trace, b.analysis});
  std::int64_t sum = 0;
  for (std::size_t i = 0; i + 1 < d.classes.rows.size(); ++i)
    sum += std::get<std::int64_t>(d.classes.rows[i][3]);
  CHECK(sum == std::get<std::int64_t>(d.classes.rows.back()[3]));
  auto json = nlohmann::json::parse(diff_json(d, {a.trace, a.analysis}, {b.trace, b.analysis}));
  CHECK(json["verdict"] == "faster");
}

}  // namespace headway::analyzer
