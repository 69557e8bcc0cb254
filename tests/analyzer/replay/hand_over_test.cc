// SPDX-License-Identifier: MIT
// Batches that were ready when they were asked for, and what taking them costs.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

#include "analyzer/evidence/loader.h"
#include "analyzer/replay/predictor.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fix.h"
#include "analyzer/whatif/predict_findings.h"
#include "tests/support/trace_builder.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr int kSteps = 48;
constexpr int kOfEpoch = 12;

/// Steps of 10 ms on a training thread: taking a batch, then computing. Worker threads make each batch in 1 ms
/// during the step before, the first 0.7 ms decoding; with `epochs`, twelve steps have a worker of their own, which takes 20 ms to start.
trace::Trace taking(std::int64_t taking_ns, bool epochs, std::string_view loader = "") {
  test::TraceBuilder builder;
  if (!loader.empty()) builder.setting("DataLoader", std::string(loader));
  std::int64_t now = 100 * kMs;
  std::int64_t before = now;  // the step before this one
  for (int i = 0; i < kSteps; ++i) {
    if (epochs && i % kOfEpoch == 0) {
      builder.range(1, "DataLoader.__iter__", now, now + 20 * kMs,
                    {.kind = trace::RangeKind::kPhase});
      now += 20 * kMs;
    }
    const std::int64_t worker = epochs ? 2 + i / kOfEpoch : 2;
    const std::int64_t made = i % kOfEpoch == 0 ? now - 2 * kMs : before + kMs / 10;
    builder.range(static_cast<std::int32_t>(worker), "batch", made, made + kMs,
                  {.kind = trace::RangeKind::kBatch, .batch = i});
    builder.range(static_cast<std::int32_t>(worker), "decode", made, made + 7 * kMs / 10,
                  {.kind = trace::RangeKind::kDecode, .batch = i});
    builder.range(1, "step", now, now + 10 * kMs, {.kind = trace::RangeKind::kStep, .op = i});
    builder.range(1, "next", now, now + taking_ns,
                  {.kind = trace::RangeKind::kInputWait, .batch = i});
    builder.range(1, "forward", now + taking_ns, now + 10 * kMs,
                  {.kind = trace::RangeKind::kPhase, .phase = trace::Phase::kForward});
    before = now;
    now += 10 * kMs;
  }
  return builder.load();
}

double step_ms(const Predictor& predictor, std::string_view fix) {
  const Proposal proposal = find_fix(fix)->propose(predictor);
  REQUIRE(proposal.applies);
  return static_cast<double>(predictor.predict(proposal.scenario).step.ns) / 1e6;
}

}  // namespace

TEST_CASE("taking ready batches from a worker costs more than making them") {
  trace::Trace trace = taking(4 * kMs, false);
  Analysis analysis = analyze(trace);
  const Predictor predictor(trace, analysis);
  CHECK(predictor.baseline().residual == doctest::Approx(0).epsilon(0.01));
  CHECK(step_ms(predictor, "free-input") == doctest::Approx(6).epsilon(0.01));
  CHECK(step_ms(predictor, "no-workers") == doctest::Approx(7).epsilon(0.01));
  predict_findings(trace, analysis);
  REQUIRE_FALSE(analysis.findings.empty());
  const Finding& first = analysis.findings.front();
  CHECK(first.rule == "input-bound");
  CHECK(first.sub_cause == "hand-over");
  REQUIRE(first.predicted);
  CHECK(first.predicted->fix == "no-workers");
}

TEST_CASE("batches that the training thread makes take less there when making them does") {
  const trace::Trace trace = taking(4 * kMs, false);
  const Analysis analysis = analyze(trace);
  const Predictor predictor(trace, analysis);
  const Scenario here = find_fix("no-workers")->propose(predictor).scenario;
  Scenario decoded;
  scale_stage(predictor, trace::RangeKind::kDecode, 0, decoded);
  const auto step = [&](const Scenario& scenario) {
    return static_cast<double>(predictor.predict(scenario).step.ns) / 1e6;
  };
  CHECK(step(decoded) == doctest::Approx(10).epsilon(0.01));  // the worker made them in time anyway
  CHECK(step(here.with(decoded)) == doctest::Approx(6.3).epsilon(0.01));
  CHECK(step(decoded.with(here)) == doctest::Approx(6.3).epsilon(0.01));
  Scenario slower;
  scale_stage(predictor, trace::RangeKind::kDecode, 2, slower);
  CHECK(step(here.with(slower)) == doctest::Approx(7.7).epsilon(0.01));
}

TEST_CASE("workers stay where taking a batch is quicker than making it") {
  const trace::Trace trace = taking(kMs / 2, false);
  const Analysis analysis = analyze(trace);
  const Predictor predictor(trace, analysis);
  CHECK_FALSE(find_fix("no-workers")->propose(predictor).applies);
}

TEST_CASE("workers of one epoch after the other are one worker, which may live on") {
  const trace::Trace trace = taking(4 * kMs, true);
  const Analysis analysis = analyze(trace);
  const Predictor predictor(trace, analysis);
  const LoaderWork work = loader_work(rule_context(predictor));
  CHECK(work.workers.size() == kSteps / kOfEpoch);
  CHECK(work.at_once == 1);
  // 20 ms an epoch of 12 steps.
  const auto now = static_cast<double>(predictor.baseline().recorded.ns) / 1e6;
  CHECK(now - step_ms(predictor, "persistent-workers") > 1);
}

TEST_CASE("workers that PyTorch keeps are not kept once more") {
  const auto applies = [](std::string_view loader) {
    const trace::Trace trace = taking(4 * kMs, true, loader);
    const Analysis analysis = analyze(trace);
    return find_fix("persistent-workers")->propose(Predictor(trace, analysis)).applies;
  };
  CHECK(applies("num_workers=1 batch_size=4 samples=400"));
  CHECK_FALSE(applies("num_workers=1 batch_size=4 persistent_workers=True samples=400"));
}

/// Steps of 16 ms in PyTorch: taking a batch that was ready, which takes so long, then computing. The worker decodes for 4 ms and
/// puts together for 6.
trace::Trace collating(std::int64_t taking_ns) {
  test::TraceBuilder builder;
  builder.setting("DataLoader", "num_workers=1 batch_size=4 samples=400");
  builder.setting("DataLoader.batch_tensors", "3");
  builder.setting("DataLoader.batch_bytes", "40000");
  std::int64_t now = 100 * kMs;
  for (int i = 0; i < kSteps; ++i) {
    const std::int64_t made = now - 15 * kMs;
    builder.range(2, "batch", made, made + 10 * kMs,
                  {.kind = trace::RangeKind::kBatch, .batch = i});
    builder.range(2, "decode", made, made + 4 * kMs,
                  {.kind = trace::RangeKind::kDecode, .batch = i});
    builder.range(2, "collate", made + 4 * kMs, made + 10 * kMs,
                  {.kind = trace::RangeKind::kCollate, .batch = i});
    builder.range(1, "step", now, now + 16 * kMs, {.kind = trace::RangeKind::kStep, .op = i});
    builder.range(1, "next", now, now + taking_ns,
                  {.kind = trace::RangeKind::kInputWait, .batch = i});
    builder.range(1, "forward", now + taking_ns, now + 15 * kMs,
                  {.kind = trace::RangeKind::kPhase, .phase = trace::Phase::kForward});
    builder.range(1, "Optimizer.step#SGD.step", now + 15 * kMs, now + 16 * kMs,
                  {.kind = trace::RangeKind::kPhase, .phase = trace::Phase::kUpdate});
    now += 16 * kMs;
  }
  return builder.load();
}

TEST_CASE("a worker that puts batches together in Python sends ready ones late, by 5 ms at most") {
  const auto gain = [](std::int64_t taking_ns) {
    const trace::Trace trace = collating(taking_ns);
    const Analysis analysis = analyze(trace);
    const Predictor predictor(trace, analysis);
    const auto recorded = static_cast<double>(predictor.baseline().recorded.ns) / 1e6;
    return recorded - step_ms(predictor, "tensor-collate");
  };
  CHECK(gain(54 * kMs / 10) > 2);
  CHECK(gain(2 * kMs) > 1);
  // As long as taking three tensors takes.
  CHECK(gain(6 * kMs / 10) < 0.2);
}

/// Steps of 40 ms in PyTorch that sleep for 34 making a batch of three tensors, on two processors that are as busy as
/// `cpu` says, in %; or in a framework that nothing names.
trace::Trace sleeping(double cpu, bool pytorch = true) {
  test::TraceBuilder builder;
  builder.setting("DataLoader", "num_workers=0 batch_size=4 samples=400");
  builder.setting("DataLoader.batch_tensors", "3");
  for (int i = 0; i < kSteps; ++i) {
    const std::int64_t now = (100 + 40 * i) * kMs;
    builder.counter("machine.cpu", "%", now, cpu);
    builder.range(1, "step", now, now + 40 * kMs, {.kind = trace::RangeKind::kStep, .op = i});
    builder.range(1, "next", now, now + 34 * kMs,
                  {.kind = trace::RangeKind::kInputWait, .batch = i});
    builder.range(1, "batch", now, now + 34 * kMs, {.kind = trace::RangeKind::kBatch, .batch = i});
    builder.range(1, "samples", now, now + 34 * kMs, {.kind = trace::RangeKind::kRead, .batch = i});
    builder.range(1, "forward", now + 34 * kMs, now + 40 * kMs,
                  {.kind = trace::RangeKind::kPhase, .phase = trace::Phase::kForward});
    builder.range(1, pytorch ? "Optimizer.step#SGD.step" : "update", now + 39 * kMs,
                  now + 40 * kMs);
  }
  trace::Trace trace = builder.load();
  trace.meta[std::string(trace::meta::kCpuCount)] = "2";
  return trace;
}

double step_with_workers_ms(double cpu) {
  const trace::Trace trace = sleeping(cpu);
  const Analysis analysis = analyze(trace);
  return step_ms(Predictor(trace, analysis), "use-workers");
}

TEST_CASE("what PyTorch computes after a long wait is faster without it, but not for sure") {
  const auto without_input = [](bool pytorch) {
    const trace::Trace trace = sleeping(50, pytorch);
    const Analysis analysis = analyze(trace);
    const Predictor predictor(trace, analysis);
    CHECK(predictor.predict(Scenario{}).gain.ns == 0);
    return predictor.predict(find_fix("free-input")->propose(predictor).scenario);
  };
  // 34 ms of waiting for files before 6 of computing: 6 ms are left, or half as much where all caches were lost.
  const Prediction cold = without_input(true);
  CHECK(cold.step.ns > 3 * kMs);
  CHECK(cold.step.ns < 5 * kMs);
  const Prediction plain = without_input(false);
  CHECK(plain.step.ns == 6 * kMs);
  // The interval has both: as fast as without the effect, and all of it.
  const auto lowest = [](const Prediction& one) { return one.gain_ns.low / 1e6; };
  CHECK(lowest(cold) == doctest::Approx(lowest(plain)).epsilon(0.001));
  CHECK(cold.gain_ns.high - static_cast<double>(cold.gain.ns) >
        plain.gain_ns.high - static_cast<double>(plain.gain.ns) + kMs / 10);
}

TEST_CASE("a batch is handed over as fast as there is a processor for who takes it") {
  // The step and the work of six workers that mostly sleep leave one of two processors idle nearly always; where both are
  // busy already, a message waits for one at each turn.
  const double idle = step_with_workers_ms(10);
  const double busy = step_with_workers_ms(90);
  CHECK(idle > 6.5);
  CHECK(idle < 8.5);
  CHECK(busy > idle + 0.1);
}

/// Steps of 10 ms whose first 4 are making a batch on the training thread, 1 of them decoding; of a data set of 400
/// samples of 3 kB, whose samples draw random numbers or not; a transform and garbage collection lie in them.
trace::Trace making_here(std::string_view draws, bool evaluates = false) {
  test::TraceBuilder builder;
  builder.setting("DataLoader", "num_workers=0 batch_size=4 samples=400");
  builder.setting("DataLoader.batch_bytes", "12000");
  if (!draws.empty()) builder.setting(draws, "torch");
  std::int64_t now = 100 * kMs;
  for (int i = 0; i < kSteps; ++i, now += 10 * kMs) {
    builder.counter("machine.memory_available", "bytes", now, 1e9);
    builder.range(1, "step", now, now + 10 * kMs, {.kind = trace::RangeKind::kStep, .op = i});
    builder.range(1, "next", now, now + 4 * kMs,
                  {.kind = trace::RangeKind::kInputWait, .batch = i});
    builder.range(1, "batch", now, now + 4 * kMs, {.kind = trace::RangeKind::kBatch, .batch = i});
    builder.range(1, "samples", now, now + 4 * kMs,
                  {.kind = trace::RangeKind::kDecode, .batch = i});
    builder.range(1, "decode", now + kMs, now + 2 * kMs,
                  {.kind = trace::RangeKind::kDecode, .batch = i});
    builder.range(1, "nn.Module: Normalize", now + 2 * kMs, now + 3 * kMs);
    builder.range(1, "garbage collection", now + 3 * kMs, now + 7 * kMs / 2);
    builder.range(1, "forward", now + 4 * kMs, now + 10 * kMs,
                  {.kind = trace::RangeKind::kPhase, .phase = trace::Phase::kForward});
    if (!evaluates || i % 12 != 11) continue;
    // Four batches of 4 ms each, two of them for the model.
    const std::int64_t begin = now + 10 * kMs;
    builder.range(1, "evaluation", begin, begin + 24 * kMs,
                  {.kind = trace::RangeKind::kPhase, .phase = trace::Phase::kEvaluation});
    for (int batch = 0; batch < 4; ++batch) {
      const std::int64_t at = begin + batch * 6 * kMs;
      const std::int64_t number = 1000 + 4 * i + batch;
      builder.range(1, "next", at, at + 4 * kMs,
                    {.kind = trace::RangeKind::kInputWait, .batch = number});
      builder.range(1, "batch", at, at + 4 * kMs,
                    {.kind = trace::RangeKind::kBatch, .batch = number});
      builder.range(1, "samples", at, at + 4 * kMs,
                    {.kind = trace::RangeKind::kDecode, .batch = number});
    }
    now += 24 * kMs;
  }
  return builder.load();
}

TEST_CASE("samples that draw no random numbers can be kept whole, those that do as decoded") {
  const auto asked = [](std::string_view draws, double step) {
    const trace::Trace trace = making_here(draws);
    const Analysis analysis = analyze(trace);
    const Predictor predictor(trace, analysis);
    const Proposal proposal = find_fix("samples-in-memory")->propose(predictor);
    REQUIRE(proposal.applies);
    CHECK(step_ms(predictor, "samples-in-memory") == doctest::Approx(step).epsilon(0.02));
    return std::pair(proposal.certainty, proposal.otherwise.size());
  };
  const auto nothing = asked("DataLoader.samples_draw_nothing", 6);
  const auto unknown = asked("", 6);
  const auto random = asked("DataLoader.samples_draw_from", 9);
  CHECK(nothing.first > unknown.first);
  CHECK(nothing.second == 0);
  CHECK(unknown.second == 1);
  CHECK(random.second == 0);
}

TEST_CASE("samples that are kept are there for evaluations, too") {
  const trace::Trace trace = making_here("DataLoader.samples_draw_nothing", true);
  const Analysis analysis = analyze(trace);
  const Predictor predictor(trace, analysis);
  // 24 ms of evaluation after 12 steps, 16 of them for samples: 2 ms a step, and 0.67 of them are left.
  const double evaluation =
      static_cast<double>(analysis.partitions.at(0).between[BetweenCause::kEvaluation].ns) / 1e6;
  CHECK(evaluation == doctest::Approx(2).epsilon(0.2));
  CHECK(step_ms(predictor, "samples-in-memory") ==
        doctest::Approx(6 + evaluation / 3).epsilon(0.02));
}

}  // namespace headway::analyzer
