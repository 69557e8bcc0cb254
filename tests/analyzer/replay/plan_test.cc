// SPDX-License-Identifier: MIT
#include "analyzer/whatif/plan.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "analyzer/report/facts.h"
#include "analyzer/report/formats.h"
#include "analyzer/whatif/best_order.h"
#include "analyzer/whatif/predict_findings.h"
#include "analyzer/whatif/replayed_fixes.h"
#include "tests/analyzer/text_run.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

/// A worker needs `read` for a batch; the host launches 400 kernels of 2 µs, one each 30 µs, which takes 12 ms.
TextRun run_of(const std::string& read) {
  return TextRun("meta cpu_count 16\nloader 1 prefetch=2\n  read " + read +
                 " bytes=1MB\nthread main\n  steps 60\n    input\n"
                 "    repeat 400\n      host 26us\n      launch relu 2us call=4us blocks=400\n"
                 "    launch adam 100us blocks=320 phase=update\n    sync stream\n");
}

bool has(const std::vector<PredictedGain>& plan, std::string_view fix) {
  return std::ranges::find(plan, fix, &PredictedGain::fix) != plan.end();
}

}  // namespace

TEST_CASE("two things that limit a step alike are planned together, though neither alone gains") {
  TextRun run = run_of("12ms");
  predict_findings(run.trace, run.analysis);
  CAPTURE(render_text(run.trace, run.analysis, {}));
  REQUIRE(run.analysis.plan.size() >= 2);
  CHECK(run.analysis.plan.back().share > 0.3);
  CHECK(has(run.analysis.plan, "cuda-graph"));
  // Nothing shows that the storage serves more readers at once, so memory comes first.
  CHECK(has(run.analysis.plan, "samples-in-memory"));
  // Where nothing is found, the verdict tells it.
  std::erase_if(run.analysis.findings,
                [](const Finding& one) { return one.status == Status::kFound; });
  const std::string said = verdict(run.trace, run.analysis);
  CHECK(said.find("cuda-graph") != std::string::npos);
  CHECK(said.find("Nothing worth fixing") == std::string::npos);
}

TEST_CASE(
    "a plan goes on where its first fix stops, and no line takes longer than the one before") {
  TextRun run = run_of("20ms");
  predict_findings(run.trace, run.analysis);
  CAPTURE(render_text(run.trace, run.analysis, {}));
  CHECK(run.analysis.findings.front().status == Status::kFound);
  REQUIRE(run.analysis.plan.size() >= 2);
  for (std::size_t i = 1; i < run.analysis.plan.size(); ++i)
    CHECK(run.analysis.plan[i].step < run.analysis.plan[i - 1].step);
  CHECK(run.analysis.plan.back().share > run.analysis.findings.front().predicted->share);
  CHECK(plan_lines(run.analysis).size() == run.analysis.plan.size());
}

TEST_CASE("what makes steps longer alone is part of no plan, though it gains beside another fix") {
  const TextRun run = run_of("12ms");
  const Predictor predictor(run.trace, run.analysis);
  std::vector<ReplayedFix> all = replay_fixes(predictor);
  CHECK(has(plan(predictor, all, {}), "cuda-graph"));
  const auto graph =
      std::ranges::find(all, "cuda-graph", [](const ReplayedFix& one) { return one.fix->id; });
  REQUIRE(graph != all.end());
  graph->prediction.gain_ns = {-3e6, -1e6};
  CHECK(!has(plan(predictor, all, {}), "cuda-graph"));
}

TEST_CASE("a healthy run has no plan") {
  TextRun run("loader 1 prefetch=2\n  read 2ms bytes=1MB\nthread main\n  steps 60\n    input\n" +
              test::healthy_step());
  predict_findings(run.trace, run.analysis);
  CHECK(run.analysis.plan.empty());
}

TEST_CASE("of fixes that set the same switch a plan has one") {
  TextRun run = run_of("20ms");
  const Predictor predictor(run.trace, run.analysis);
  Scenario shorter;
  for (std::size_t p = 0; p < predictor.parts().size(); ++p) shorter.scale(PartId::from(p), 0.5);
  auto sizes = [&](const char* first, const char* second) {
    const Proposal one{.applies = true, .text = "", .scenario = shorter, .setting = first};
    const Proposal other{.applies = true, .text = "", .scenario = shorter, .setting = second};
    return best_order(predictor,
                      {{find_fix("samples-in-memory"), &one}, {find_fix("pack-files"), &other}},
                      0.01)
        .size();
  };
  CHECK(sizes("--source memory", "--decode offline, --source shards") == 1);
  CHECK(sizes("--source memory", "--decode offline") == 2);
}

}  // namespace headway::analyzer
