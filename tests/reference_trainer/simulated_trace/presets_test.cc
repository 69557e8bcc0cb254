// SPDX-License-Identifier: MIT
// Every preset plants one bottleneck: the report names it first.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string_view>

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
  analyzer::predict_findings(report->trace, report->analysis, {},
                             report->whole ? &*report->whole : nullptr);
  const auto& findings = report->analysis.findings;
  if (findings.empty() || findings.front().status != analyzer::Status::kFound) return "nothing";
  return std::string(findings.front().rule);
}

/// Presets that plant more than one cause, or one that a larger one contains: what gains most when it is taken away comes first,
/// and the preset's rule after it.
const std::map<std::string_view, std::string_view> kMoreExact = {
    {"input-bound", "small-files"},            // one worker reads single files from slow storage
    {"workers-starved", "small-files"},        // likewise
    {"pageable-copy", "copy-not-overlapped"},  // in the compute stream
    {"uneven-batches", "padding"},             // sentences of any length are padded, on every rank
    {"low-occupancy", "no-tensor-cores"},      // one picture a step, in FP32
    {"step-growth", "host-bound"},             // what grows takes all of its time from the step
    {"kernel-gaps", "memory-headroom"},        // a larger batch lengthens the kernels
    {"comm-exposed", "comm-slow-link"}};       // a flat ring over two nodes

}  // namespace

TEST_CASE("a preset's rule is what the report finds first") {
  for (const Preset& preset : all_presets()) {
    if (preset.rule.empty()) continue;
    CAPTURE(std::string(preset.name));
    const auto exact = kMoreExact.find(preset.name);
    CHECK(first_finding(preset.name) == (exact == kMoreExact.end() ? preset.rule : exact->second));
  }
}

TEST_CASE("gradients exchanged one by one are found in the recording of one rank, too") {
  const test::TemporaryFolder folder;
  const auto finds = [&](bool planted) {
    const std::string name = planted ? "planted" : "healthy";
    sim::write_trace(simulate("comm-too-small", planted).run, folder / (name + "%r.sqlite"));
    const auto report = analyzer::analyze_ranks(trace::load(folder / (name + "0.sqlite")));
    return std::ranges::any_of(report->analysis.findings, [](const analyzer::Finding& finding) {
      return finding.rule == "unbucketed-collectives" && finding.status == analyzer::Status::kFound;
    });
  };
  CHECK(finds(true));
  CHECK(!finds(false));
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
