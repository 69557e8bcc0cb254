// SPDX-License-Identifier: MIT
#include "analyzer/whatif/together.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

constexpr std::int64_t kUs = 1000;

/// Twenty steps of ten kernels of 100 µs on one stream, each waited for.
struct Run {
  Run() {
    test::TraceBuilder builder;
    std::int64_t now = 0;
    for (int step = 0; step < 20; ++step) {
      const std::int64_t begin = now;
      for (int k = 0; k < 10; ++k) {
        builder.launch(1, now, now + 5 * kUs, now + 15 * kUs, now + 115 * kUs,
                       {.name = k % 2 ? "gemm" : "relu", .phase = trace::Phase::kForward});
        builder.call(1, trace::DeviceCallKind::kStreamSynchronize, now + 5 * kUs, now + 120 * kUs);
        now += 125 * kUs;
      }
      builder.range(1, "step", begin, now, {.kind = trace::RangeKind::kStep, .step = step});
    }
    trace = builder.load();
    analysis = analyze(trace);
    predictor.emplace(trace, analysis);
    // All parts of the device at a factor, as a fix with a formula would have it.
    for (std::size_t part = 0; part < predictor->parts().size(); ++part) {
      if (predictor->parts()[part].kind != Part::Kind::kDevice) continue;
      for (const auto& [scenario, by] :
           {std::pair(&half, 0.5), std::pair(&third, 0.33), std::pair(&most, 0.9)})
        scenario->scale(PartId::from(part), by);
    }
  }

  trace::Trace trace;
  Analysis analysis;
  std::optional<Predictor> predictor;
  Scenario half, third, most;
};

Run& run() {
  static Run made;
  return made;
}

const Fix& fix(std::string_view id) {
  const Fix* found = find_fix(id);
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("a fix alone is predicted as by itself, with the ends of its range") {
  const Proposal proposal{
      .applies = true, .text = "", .scenario = run().half, .otherwise = {run().third, run().most}};
  const std::array one = {ProposedFix{&fix("fuse-chains"), &proposal}};
  const Prediction together = analyzer::together(one).predict(*run().predictor);
  const Prediction alone = run().predictor->predict(
      proposal.scenario, fix("fuse-chains").model_error, proposal.otherwise);
  CHECK(together.step == alone.step);
  CHECK(together.gain_ns.low == alone.gain_ns.low);
  CHECK(together.gain_ns.high == alone.gain_ns.high);
}

TEST_CASE(
    "of several fixes each may be at the ends of its range, so the interval has what either may be "
    "off") {
  const Proposal sure = fix("remove-syncs").propose(*run().predictor);
  REQUIRE(sure.applies);
  const Proposal unsure{
      .applies = true, .text = "", .scenario = run().half, .otherwise = {run().third, run().most}};
  const std::array both = {ProposedFix{&fix("remove-syncs"), &sure},
                           ProposedFix{&fix("fuse-chains"), &unsure}};
  const Together all = together(both);
  CHECK(all.missing.empty());
  CHECK(all.otherwise.size() == 2);
  const Prediction prediction = all.predict(*run().predictor);
  const Prediction worst = run().predictor->predict(sure.scenario.with(run().most));
  const Prediction best = run().predictor->predict(sure.scenario.with(run().third));
  CHECK(prediction.gain_ns.low <= static_cast<double>(worst.gain.ns));
  CHECK(prediction.gain_ns.high >= static_cast<double>(best.gain.ns));
  const Prediction without = run().predictor->predict(sure.scenario);
  CHECK(prediction.gain > without.gain);
  // What one of them may be off is a share of what is its own: what it gains alone, and what is lost without it.
  const auto gain = static_cast<double>(prediction.gain.ns);
  const auto gain_without = static_cast<double>(without.gain.ns);
  const auto gain_alone = static_cast<double>(run().predictor->predict(unsure.scenario).gain.ns);
  const double own = gain_without + gain - gain_alone;
  const double other_own = gain_alone + gain - gain_without;
  const double error =
      (fix("remove-syncs").model_error * own + fix("fuse-chains").model_error * other_own) /
      (own + other_own);
  Together bare = all;
  bare.otherwise.clear();
  const Bounds told = bare.predict(*run().predictor).gain_ns;
  const Bounds expected = run().predictor->predict(all.scenario, error).gain_ns;
  CHECK(told.low == doctest::Approx(expected.low));
  CHECK(told.high == doctest::Approx(expected.high));
  // The order of the fixes changes nothing.
  const std::array other_way = {both[1], both[0]};
  const Bounds turned = together(other_way).predict(*run().predictor).gain_ns;
  CHECK(turned.low == doctest::Approx(prediction.gain_ns.low));
  CHECK(turned.high == doctest::Approx(prediction.gain_ns.high));
  const double largest = std::max(fix("remove-syncs").model_error, fix("fuse-chains").model_error);
  CHECK(told.low > run().predictor->predict(all.scenario, largest).gain_ns.low);
}

TEST_CASE("a fix that does not apply, and a changed batch beside others, have no answer") {
  const Proposal none{.applies = false, .text = "no thread waits for input", .scenario = {}};
  const std::array absent = {ProposedFix{&fix("free-input"), &none}};
  CHECK(together(absent).missing == "free-input does not apply: no thread waits for input");
  Proposal batch{.applies = true, .text = "", .scenario = run().half};
  batch.scenario.work = 2;
  const Proposal other{.applies = true, .text = "", .scenario = run().half};
  const std::array two = {ProposedFix{&fix("larger-batch"), &batch},
                          ProposedFix{&fix("fuse-chains"), &other}};
  CHECK(together(two).missing.starts_with("larger-batch changes the batch"));
  CHECK(together(std::span(two).first(1)).missing.empty());
}

}  // namespace headway::analyzer
