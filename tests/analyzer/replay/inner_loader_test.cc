// SPDX-License-Identifier: MIT
// A second loader, whose workers make batches for an evaluation amid an epoch of the first.
#include <doctest/doctest.h>

#include <string_view>

#include "analyzer/replay/predictor.h"
#include "analyzer/whatif/fix.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr int kSteps = 60;
constexpr int kAhead = 4;
constexpr int kEvery = 12;     ///< steps
constexpr int kEvaluated = 4;  ///< batches
constexpr int kOfEvaluation = 1000;

/// Steps that compute for 20 ms, of which 5 ms are page faults; a worker makes batches in 1 ms, four ahead. Every twelfth
/// step ends with an evaluation: a worker of its own is started in 10 ms and makes four batches at once.
trace::Trace evaluating() {
  test::TraceBuilder builder;
  builder.setting("page_faults", "per_step=4000 ns=1000 libc=1");
  std::int64_t now = 100 * kMs;
  auto make = [&](std::int32_t thread, std::int64_t at, std::int64_t batch) {
    builder.range(thread, "batch", at, at + kMs,
                  {.kind = trace::RangeKind::kBatch, .batch = batch});
  };
  auto take = [&](std::int64_t batch) {
    builder.range(1, "next", now, now + kMs / 10,
                  {.kind = trace::RangeKind::kInputWait, .batch = batch});
    now += kMs / 10;
  };
  for (int i = 0; i < kAhead; ++i) make(2, now - (10 - i) * kMs, i);
  for (int i = 0; i < kSteps; ++i) {
    const std::int64_t begin = now;
    take(i);
    if (i + kAhead < kSteps) make(2, now + kMs / 10, i + kAhead);
    builder.range(1, "forward", now, now + 20 * kMs,
                  {.kind = trace::RangeKind::kPhase, .phase = trace::Phase::kForward});
    now += 20 * kMs;
    if (i % kEvery == kEvery - 1) {
      const int evaluation = i / kEvery;
      builder.range(1, "DataLoader.__iter__", now, now + 10 * kMs,
                    {.kind = trace::RangeKind::kPhase});
      now += 10 * kMs;
      for (int b = 0; b < kEvaluated; ++b)
        make(3 + evaluation, now - (9 - b) * kMs, kOfEvaluation + evaluation * kEvaluated + b);
      for (int b = 0; b < kEvaluated; ++b) {
        take(kOfEvaluation + evaluation * kEvaluated + b);
        builder.range(1, "evaluation batch", now, now + 4 * kMs,
                      {.kind = trace::RangeKind::kPhase, .phase = trace::Phase::kEvaluation});
        now += 4 * kMs;
      }
    }
    builder.range(1, "step", begin, now, {.kind = trace::RangeKind::kStep, .op = i});
  }
  return builder.load();
}

}  // namespace

TEST_CASE("an evaluation amid an epoch comes earlier when the steps before it take less") {
  const trace::Trace trace = evaluating();
  const Analysis analysis = analyze(trace);
  const Predictor predictor(trace, analysis);
  const Proposal proposal = find_fix("keep-freed-memory")->propose(predictor);
  REQUIRE(proposal.applies);
  const auto now = static_cast<double>(predictor.baseline().recorded.ns) / 1e6;
  const double then = static_cast<double>(predictor.predict(proposal.scenario).step.ns) / 1e6;
  // 4,000 faults of 1 µs, among other work 1.25; the step before each evaluation counts as recorded.
  CHECK(now - then > 5 * 0.85);
  CHECK(now - then < 5 * 1.05);
}

}  // namespace headway::analyzer
