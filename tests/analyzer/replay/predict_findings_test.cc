// SPDX-License-Identifier: MIT
#include "analyzer/whatif/predict_findings.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "analyzer/evidence/loader.h"
#include "analyzer/report/facts.h"
#include "analyzer/report/figures.h"
#include "analyzer/rules/registry.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fix.h"
#include "tests/analyzer/planted_run.h"
#include "tests/analyzer/text_run.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using test::TextRun;

/// One worker that needs 36 ms for a batch, and what `more` says; a step takes 10.
TextRun input_bound(const char* processors, const char* more = "") {
  return TextRun(std::string("meta cpu_count ") + processors +
                 "\nloader 1 prefetch=2\n  read 12ms bytes=1MB\n  decode 24ms\n" + more +
                 "thread main\n  steps 60\n    input\n" + test::healthy_step());
}

const Finding& predicted_finding(TextRun& run, std::string_view rule) {
  predict_findings(run.trace, run.analysis);
  const Finding& finding = run.finding(rule);
  REQUIRE(finding.status == Status::kFound);
  return finding;
}

}  // namespace

TEST_CASE("every rule has a fix that can be predicted, or says why it has none") {
  for (const Rule* rule : all_rules()) {
    CAPTURE(rule->id);
    const bool has_fix =
        std::ranges::any_of(all_fixes(), [&](const Fix* fix) { return answers(*fix, rule->id); });
    CHECK(has_fix == rule->why_no_fix.empty());
  }
}

TEST_CASE("a finding shows the best fix that can be made, and the ceiling as at most") {
  // Two workers at most, and collating stays: real fixes stay above the ceiling.
  TextRun run = input_bound("2", "  collate 14ms\n");
  const Finding& finding = predicted_finding(run, "input-bound");
  REQUIRE(finding.predicted);
  CHECK(finding.predicted->fix == "more-workers");
  REQUIRE(finding.at_most);
  CHECK(finding.at_most->fix == "free-input");
  CHECK(finding.at_most->share > finding.predicted->share + 0.01);
  CHECK(finding.unpredicted.empty());
  // What could be gained at most stands beside what the fix gains.
  CHECK(finding.basis == FigureBasis::kReplay);
  CHECK(finding.share_of_step >= finding.at_most->share - 1e-6);
  // 50 ms become 25 with two workers, whose reads take 12 of them even where the storage serves one at a time.
  CHECK(static_cast<double>(finding.predicted->recorded.ns) / 1e6 ==
        doctest::Approx(50).epsilon(0.02));
  CHECK(static_cast<double>(finding.predicted->step.ns) / 1e6 == doctest::Approx(25).epsilon(0.02));
}

TEST_CASE("workers that nearly always compute are about as many as the free processors") {
  for (const auto& [processors, most] : {std::pair{"4", 4}, {"32", 33}, {"128", 129}}) {
    CAPTURE(std::string(processors));
    const TextRun run(std::string("meta cpu_count ") + processors +
                      "\nloader 1 prefetch=2\n  read 60us bytes=1KB\n  decode 36ms\nthread main\n"
                      "  steps 60\n    input\n" +
                      test::healthy_step());
    const Predictor predictor(run.trace, run.analysis);
    const RuleContext context = rule_context(predictor);
    const double share = share_of_making(context);
    CHECK(share > 0.99);
    CHECK(share < 1);
    const WorkerRoom room =
        room_for_workers(context, DurationNs{10'000'000}, DurationNs{36'000'000});
    CHECK(room.workers <= most);
    CHECK(room.workers >= most * 9 / 10 - 1);
  }
}

TEST_CASE("more processors than any machine has do not keep anybody waiting") {
  TextRun run = input_bound("9007199254740992");
  CHECK(predicted_finding(run, "input-bound").predicted);
}

TEST_CASE("a cause that no known fix mends here keeps its ceiling") {
  TextRun run("meta cpu_count 1\nloader 1\n  collate 36ms\nthread main\n  steps 60\n    input\n" +
              test::healthy_step());
  const Finding& finding = predicted_finding(run, "input-bound");
  REQUIRE(finding.predicted);
  CHECK(finding.predicted->fix == "free-input");
  CHECK(finding.predicted->share > 0.5);
  CHECK_FALSE(finding.at_most);
}

TEST_CASE("a ceiling that gains no more than the fix is not named") {
  TextRun run = input_bound("16");
  const Finding& finding = predicted_finding(run, "input-bound");
  REQUIRE(finding.predicted);
  // More workers gain as much as could be gained. Nothing shows that the storage serves so many readers at once, but one after the
  // other takes little more than a step.
  const auto more = std::ranges::find(finding.fixes, "more-workers", &PredictedGain::fix);
  REQUIRE(more != finding.fixes.end());
  CHECK(more->certainty < 1);
  CHECK(more->certainty > 0.95);
  CHECK(finding.predicted->fix == "more-workers");
  CHECK_FALSE(finding.at_most);
}

TEST_CASE("a ceiling stands where no other fix applies, and a finding without any says why") {
  TextRun outliers("thread main\n  steps 62\n" + test::healthy_step() +
                   "    sync stream\n    on every=10 offset=9\n      range callback\n"
                   "        host 60ms\n");
  const Finding& finding = predicted_finding(outliers, "step-outlier");
  REQUIRE(finding.predicted);
  CHECK(finding.predicted->fix == "usual-steps");
  CHECK_FALSE(finding.at_most);
  REQUIRE(finding.fixes.size() == 1);
  CHECK(finding.fixes.front().fix == "usual-steps");

  TextRun startup("thread main\n  range load kind=read\n    host 2s\n  steps 40\n" +
                  test::healthy_step());
  const Finding& slow = predicted_finding(startup, "long-startup");
  CHECK_FALSE(slow.predicted);
  CHECK(slow.basis == FigureBasis::kExposed);
  CHECK(slow.unpredicted == kLongStartup.why_no_fix);
  CHECK(prediction_html(slow).empty());
}

TEST_CASE("a rare pause hides no gain that each step of a training thread has") {
  auto status = [](DurationNs sample, DurationNs pause) {
    test::TraceBuilder builder;
    std::int64_t t = 1'000;
    for (int i = 0; i < 60; ++i) {
      const std::int64_t ready = t + sample.ns;
      const std::int64_t end = ready + 7'000'000 + 10'000 * (i * 7 % 11);
      builder.range(1, "step", t, end, {.kind = trace::RangeKind::kStep, .step = i});
      builder.range(1, "wait", t, ready, {.kind = trace::RangeKind::kInputWait, .batch = i});
      builder.range(1, "batch", t, ready, {.kind = trace::RangeKind::kBatch, .batch = i});
      builder.range(1, "samples", t, ready, {.kind = trace::RangeKind::kDecode, .batch = i});
      builder.range(1, "conv2d", ready, end);
      t = end;
      if (i == 40) {
        builder.range(1, "garbage collection", t, t + pause.ns);
        t += pause.ns;
      }
    }
    test::AnalyzedRun run(builder);
    predict_findings(run.trace, run.analysis);
    return run.finding("input-bound").status;
  };
  CHECK(status({3'000'000}, {0}) == Status::kFound);
  CHECK(status({3'000'000}, {300'000'000}) == Status::kFound);
  CHECK(status({400'000}, {300'000'000}) != Status::kFound);
}

TEST_CASE("the bars are as long as the steps, and the whisker as the interval") {
  Finding finding;
  finding.predicted = PredictedGain{"more-workers", {80'000'000}, {20'000'000}, 0.75, 0.5, 0.8};
  const std::string html = prediction_html(finding);
  CHECK(html.find("class=\"was\" width=\"100.00%\"") != std::string::npos);
  CHECK(html.find("class=\"then\" width=\"25.00%\"") != std::string::npos);
  CHECK(html.find("x1=\"20.00%\" y1=\"8\" x2=\"50.00%\"") != std::string::npos);
  CHECK(html.find("20.0 ms (16.0 ms to 40.0 ms)") != std::string::npos);
  // A fix that may make it slower needs more room than the recorded step.
  finding.predicted = PredictedGain{"no-casts", {80'000'000}, {80'000'000}, 0, -0.25, 0.25};
  CHECK(prediction_html(finding).find("class=\"was\" width=\"80.00%\"") != std::string::npos);
}

TEST_CASE("what no cause was recorded for is told beside the gains") {
  TextRun run = input_bound("3");
  predicted_finding(run, "input-bound");
  CHECK(run.analysis.unexplained < 0.01);
  CHECK(prediction_note(run.analysis).find("no recorded cause") == std::string::npos);
  run.analysis.unexplained = 0.47;
  CHECK(prediction_note(run.analysis).find("47.0 % of the step") != std::string::npos);
}

}  // namespace headway::analyzer
