// SPDX-License-Identifier: MIT
// What holds of every report: each finding has one figure, from a replay, and its fixes gain no
// more than that.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "analyzer/whatif/fix.h"
#include "analyzer/whatif/predict_findings.h"
#include "analyzer/whatif/same_time.h"
#include "analyzer/whatif/whatif.h"
#include "tests/analyzer/graph/random_trace.h"
#include "tests/analyzer/planted_run.h"
#include "tests/support/property.h"

namespace headway::analyzer {
namespace {

/// Gains are whole nanoseconds of steps that take some tenths of a millisecond.
constexpr double kRounding = 1e-4;
constexpr double kWorthMaking = 0.01;
constexpr double kNeverSilent = 0.05;

bool is_found(const Finding& finding) {
  return finding.status == Status::kFound;
}

/// 0 <= gain of a fix <= what the cause costs <= the step, and nothing that gains nothing is
/// advised.
void check_figures(const Finding& finding) {
  CHECK(finding.share_of_step >= 0);
  CHECK(finding.share_of_step <= 1 + kRounding);
  double before = 1;
  for (const PredictedGain& gain : finding.fixes) {
    CAPTURE(std::string(gain.fix));
    CHECK(gain.share >= kWorthMaking);
    // In the order of what is expected: the middle of the interval counts as well.
    const double expected = (gain.low + 2 * gain.share + gain.high) / 4 * gain.certainty;
    CHECK(expected <= before + kRounding);
    if (finding.part_of.empty()) before = expected;
    CHECK(gain.low <= gain.share + kRounding);
    CHECK(gain.share <= gain.high + kRounding);
  }
  if (finding.predicted) CHECK(finding.predicted->share <= finding.share_of_step + kRounding);
  for (const Advice& advice : finding.advice) {
    CHECK(std::ranges::find(finding.fixes, advice.fix, &PredictedGain::fix) != finding.fixes.end());
  }
}

void check_order(const Analysis& analysis) {
  double worth = 1;
  std::string_view lead;
  for (const Finding& finding : analysis.findings) {
    if (!is_found(finding)) continue;
    CAPTURE(std::string(finding.rule));
    if (!finding.part_of.empty()) {
      CHECK(finding.part_of == lead);
      continue;
    }
    lead = finding.rule;
    CHECK(finding.worth <= worth);
    worth = finding.worth;
  }
}

void check_all(const trace::Trace& trace, Analysis& analysis) {
  predict_findings(trace, analysis);
  for (const Finding& finding : analysis.findings) {
    CAPTURE(std::string(finding.rule));
    if (is_found(finding) && finding.basis == FigureBasis::kReplay) {
      CHECK_FALSE(finding.fixes.empty());
      check_figures(finding);
    }
    if (is_found(finding) && finding.basis == FigureBasis::kExposed)
      CHECK_FALSE(finding.unpredicted.empty());
    if (finding.status == Status::kNoGain) {
      CHECK(finding.fixes.empty());
      CHECK(finding.advice.empty());
      CHECK(finding.recoverable_per_step.ns == 0);
    }
  }
  check_order(analysis);
}

/// Every fix that gains much has a finding that names it.
void check_nothing_silent(const trace::Trace& trace, const Analysis& analysis) {
  const Predictor predictor(trace, analysis);
  for (const FixPrediction& one : what_if(predictor).fixes) {
    if (!one.applies || one.fix->kind == FixKind::kCeiling ||
        ratio(one.prediction.gain, predictor.baseline().recorded) < kNeverSilent)
      continue;
    CAPTURE(std::string(one.fix->id));
    CHECK(std::ranges::any_of(analysis.findings, [&](const Finding& finding) {
      return is_found(finding) && answers(*one.fix, finding.rule);
    }));
  }
}

test::PlantedRun random_run(std::mt19937_64& random) {
  auto one_of = [&](std::initializer_list<std::int64_t> values) {
    return *(values.begin() + random() % values.size());
  };
  return {.steps = 24,
          .kernels = static_cast<int>(one_of({2, 10, 40})),
          .kernel = one_of({5'000, 50'000, 400'000}),
          .launch_call = one_of({3'000, 8'000}),
          .launch_every = one_of({10'000, 60'000}),
          .read = one_of({0, 0, 300'000, 5'000'000}),
          .decode = one_of({0, 0, 200'000, 4'000'000}),
          .sync_every_kernel = random() % 4 == 0,
          .copy = one_of({0, 0, 100'000, 3'000'000}),
          .update_kernels = static_cast<int>(one_of({1, 30})),
          .update_kernel = one_of({3'000, 50'000})};
}

}  // namespace

TEST_CASE("in random runs a fix gains no more than its finding, and that no more than the step") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    test::AnalyzedRun run(random_run(random));
    check_all(run.trace, run.analysis);
    check_nothing_silent(run.trace, run.analysis);
  }
}

TEST_CASE("in damaged recordings, too") {
  test::check_property("damaged", [] {
    test::GraphTrace builder;
    const trace::Trace& trace = test::random_trace(builder);
    Analysis analysis = analyze(trace);
    check_all(trace, analysis);
  });
}

TEST_CASE("causes of the same time are one, which the most specific of the best leads") {
  const test::AnalyzedRun run(
      test::PlantedRun{.sync_every_kernel = true, .update_kernels = 30, .update_kernel = 50'000});
  const Predictor predictor(run.trace, run.analysis);
  REQUIRE(predictor.missing().empty());
  const Scenario no_syncs = find_fix("remove-syncs")->propose(predictor).scenario;
  Scenario no_update;
  for (std::size_t part = 0; part < predictor.parts().size(); ++part) {
    if (predictor.parts()[part].kind == Part::Kind::kDevice &&
        predictor.parts()[part].time_class == TimeClass::kOptimizer)
      no_update.scale(PartId::from(part), 0);
  }
  const DurationNs syncs = predictor.predict(no_syncs).gain;
  const DurationNs update = predictor.predict(no_update).gain;
  REQUIRE(syncs.ns > 0);
  REQUIRE(ratio(update, predictor.baseline().recorded) > 0.1);
  // Without confidence the second cause gains nearly as much as the first, and fewer fixes answer it.
  const std::vector<Cause> causes = {{no_syncs, syncs, 0.5, 0.3, 3},
                                     {no_syncs, syncs, 0.4, 0.29, 1},
                                     {no_update, update, 0.2, 0.2, 1}};
  const std::vector<CauseGroup> groups = group_by_time(predictor, causes);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0] == CauseGroup{1, 0});
  CHECK(groups[1] == CauseGroup{2});
}

}  // namespace headway::analyzer
