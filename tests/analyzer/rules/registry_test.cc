// SPDX-License-Identifier: MIT
// Before registry.h, whose rules have the names of other headers' enumerators (GCC takes those for
// shadowing).
#include "analyzer/analysis.h"

#include "analyzer/rules/registry.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "common/error.h"
#include "tests/analyzer/planted_run.h"

namespace headway::analyzer {

TEST_CASE("every rule has a file and a test of its name, and only rules do") {
  std::set<std::string> ids;
  for (const Rule* rule : all_rules()) {
    std::string file(rule->id);
    std::replace(file.begin(), file.end(), '-', '_');
    ids.insert(file);
    CAPTURE(file);
    CHECK(
        std::filesystem::exists(std::string(HEADWAY_SOURCE_DIR "/analyzer/rules/") + file + ".cc"));
    CHECK(std::filesystem::exists(std::string(HEADWAY_SOURCE_DIR "/tests/analyzer/rules/") + file +
                                  "_test.cc"));
    CHECK(rule->fires_on.ends_with("."));
  }
  CHECK(ids.size() == all_rules().size());
}

TEST_CASE(
    "a healthy run has no finding, and every rule says what it checked or why it cannot tell") {
  test::AnalyzedRun run(test::PlantedRun{});
  CHECK(run.analysis.findings.size() == all_rules().size());
  for (const Finding& finding : run.analysis.findings) {
    CAPTURE(finding.rule);
    CHECK(finding.status != Status::kFound);
    CHECK(!finding.claim.empty());
  }
}

TEST_CASE("findings are ranked by recoverable time, then unknowns, then what is fine") {
  test::AnalyzedRun run(test::PlantedRun{.read = 500'000, .copy = 200'000});
  const auto& findings = run.analysis.findings;
  REQUIRE(findings.size() >= 3);
  CHECK(findings[0].rule == "input-bound");
  CHECK(findings[1].status == Status::kFound);
  CHECK(findings.back().status == Status::kFine);
  for (std::size_t i = 1; i < findings.size() && findings[i].status == Status::kFound; ++i) {
    CHECK(findings[i - 1].recoverable_per_step >= findings[i].recoverable_per_step);
  }
}

TEST_CASE("an empty trace is an error, not a healthy verdict") {
  test::TraceBuilder builder;
  builder.counter("process.cpu", "%", 5, 10);
  trace::Trace trace = builder.load();
  CHECK_THROWS_WITH_AS(analyze(trace), doctest::Contains("headway record --help"), Error);
}

}  // namespace headway::analyzer
