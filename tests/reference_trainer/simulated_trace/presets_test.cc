// SPDX-License-Identifier: MIT
// Every preset plants one bottleneck: the report names it first.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "analyzer/job/analyze_job.h"
#include "analyzer/rules/registry.h"
#include "analyzer/whatif/predict_findings.h"
#include "reference_trainer/simulated_trace/write_trace.h"
#include "tests/reference_trainer/simulated_trace/simulate.h"
#include "tests/support/temporary_folder.h"
#include "trace/load/load.h"

namespace headway::trainer {
namespace {

using test::simulate;

std::string first_finding(std::string_view preset) {
  const test::TemporaryFolder folder;
  sim::write_trace(simulate(preset).run, folder / "run.sqlite");
  const auto report = analyzer::analyze_ranks(trace::load(folder / "run.sqlite"));
  analyzer::predict_findings(report->trace, report->analysis);
  const auto& findings = report->analysis.findings;
  if (findings.empty() || findings.front().status != analyzer::Status::kFound) return "nothing";
  return std::string(findings.front().rule);
}

}  // namespace

TEST_CASE("a preset's rule is what the report finds first") {
  for (const Preset& preset : all_presets()) {
    if (preset.rule.empty()) continue;
    CAPTURE(std::string(preset.name));
    CHECK(first_finding(preset.name) == preset.rule);
  }
}

TEST_CASE("a preset's rule is one that there is") {
  for (const Preset& preset : all_presets()) {
    if (preset.rule.empty()) continue;
    CAPTURE(std::string(preset.name));
    CHECK(std::ranges::any_of(analyzer::all_rules(),
                              [&](const analyzer::Rule* rule) { return rule->id == preset.rule; }));
  }
}

}  // namespace headway::trainer
