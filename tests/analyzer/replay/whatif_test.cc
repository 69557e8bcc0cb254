// SPDX-License-Identifier: MIT
#include "analyzer/whatif/whatif.h"

#include <doctest/doctest.h>

#include <algorithm>

#include <functional>

#include "analyzer/whatif/overlap_slowdown.h"
#include "analyzer/whatif/predict_findings.h"
#include "common/error.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using test::TraceBuilder;
using trace::DeviceCallKind;
using trace::DeviceOpKind;
using trace::Phase;
using trace::RangeKind;

constexpr std::int64_t kUs = 1000;
constexpr int kSteps = 24;

/// Steps one after another; `step` writes one that begins at a time and gives its end.
struct Run {
  explicit Run(const std::function<std::int64_t(TraceBuilder&, std::int64_t)>& step) {
    TraceBuilder builder;
    std::int64_t now = 0;
    for (int i = 0; i < kSteps; ++i) {
      std::int64_t end = step(builder, now);
      builder.range(1, "step", now, end, {.kind = RangeKind::kStep, .step = i});
      now = end;
    }
    trace = builder.load();
    analysis = analyze(trace);
    predictor.emplace(trace, analysis);
  }

  const FixPrediction& of(std::string_view id) {
    result = what_if(*predictor);
    for (const FixPrediction& one : result.fixes) {
      if (one.fix->id == id) return one;
    }
    FAIL("no such fix");
    return result.fixes.front();
  }
  double step_us(const Scenario& scenario) const {
    return static_cast<double>(predictor->predict(scenario).step.ns) / kUs;
  }

  trace::Trace trace;
  Analysis analysis;
  std::optional<Predictor> predictor;
  WhatIf result;
};

/// 20 kernels of 100 µs; the host waits for each: launch 15 µs, kernel, 5 µs to wake up.
std::int64_t step_with_syncs(TraceBuilder& builder, std::int64_t now) {
  for (int k = 0; k < 20; ++k) {
    builder.launch(1, now, now + 10 * kUs, now + 15 * kUs, now + 115 * kUs,
                   {.phase = k < 19 ? Phase::kForward : Phase::kUpdate});
    builder.call(1, DeviceCallKind::kStreamSynchronize, now + 10 * kUs, now + 120 * kUs);
    now += 120 * kUs;
  }
  return now;
}

/// The same with an event after each kernel, awaited at once or when the next kernel has been
/// launched, too.
std::int64_t step_with_events(TraceBuilder& builder, std::int64_t now, bool at_once) {
  static std::int64_t id = 0;
  auto wait = [&](std::int64_t event, std::int64_t start, std::int64_t end) {
    builder.call(1, DeviceCallKind::kEventSynchronize, start, end, 1, event);
  };
  for (int k = 0; k < 20; ++k) {
    builder.launch(1, now, now + 10 * kUs, now + 15 * kUs, now + 115 * kUs,
                   {.phase = k < 19 ? Phase::kForward : Phase::kUpdate});
    if (!at_once && k > 0) wait(id, now + 10 * kUs, now + 10 * kUs + 500);
    builder.call(1, DeviceCallKind::kEventRecord, now + 11 * kUs, now + 12 * kUs, 1, ++id);
    if (at_once) wait(id, now + 12 * kUs, now + 120 * kUs);
    now += 120 * kUs;
  }
  return now;
}

/// 20 kernels of 10 µs, each launched by a call of 30 µs.
std::int64_t step_of_launches(TraceBuilder& builder, std::int64_t now) {
  for (int k = 0; k < 20; ++k) {
    builder.launch(1, now, now + 30 * kUs, now + 12 * kUs, now + 22 * kUs,
                   {.phase = k < 19 ? Phase::kForward : Phase::kUpdate});
    now += 30 * kUs;
  }
  return now;
}

}  // namespace

TEST_CASE("without waits for the device a step takes what its kernels take") {
  Run run(step_with_syncs);
  CHECK(run.predictor->baseline().recorded.ns == 2400 * kUs);
  CHECK(run.predictor->baseline().residual < 0.001);
  const FixPrediction& fix = run.of("remove-syncs");
  REQUIRE(fix.applies);
  CHECK(fix.prediction.step.ns / 1e3 == doctest::Approx(2000).epsilon(0.01));
  // Each launch is waited for: no two of them could be captured together.
  CHECK(!run.of("cuda-graph").applies);
  // The Amdahl way, taking away the waits of 110 µs, would have said 200 µs.
  CHECK(run.result.fixes.front().fix->id == "remove-syncs");
}

TEST_CASE("launches half as long make a launch-bound step half as long") {
  Run run(step_of_launches);
  CHECK(run.predictor->baseline().recorded.ns == 600 * kUs);
  CHECK(run.step_us(parse_scaling(*run.predictor, "launch_gap=0.5")) ==
        doctest::Approx(300).epsilon(0.01));
  // Faster kernels gain nothing: they run while the host launches.
  CHECK(run.step_us(parse_scaling(*run.predictor, "compute_other=0.5")) ==
        doctest::Approx(600).epsilon(0.01));
  // Slower ones take over where they last longer than the launches.
  CHECK(run.step_us(parse_scaling(*run.predictor, "kernel:*=9")) ==
        doctest::Approx(1800).epsilon(0.01));
  const FixPrediction& graph = run.of("cuda-graph");
  REQUIRE(graph.applies);
  CHECK(graph.prediction.step.ns / 1e3 == doctest::Approx(200).epsilon(0.1));
}

TEST_CASE("a step that loads its own input is predicted without the loading") {
  Run run([](TraceBuilder& builder, std::int64_t now) {
    builder.range(1, "read", now, now + 1000 * kUs, {.kind = RangeKind::kRead});
    return step_of_launches(builder, now + 1000 * kUs);
  });
  CHECK(run.predictor->baseline().recorded.ns == 1600 * kUs);
  CHECK(run.predictor->baseline().path[TimeClass::kIoRead].ns ==
        doctest::Approx(1000 * kUs).epsilon(0.01));
  const FixPrediction& input = run.of("free-input");
  REQUIRE(input.applies);
  CHECK(input.prediction.step.ns / 1e3 == doctest::Approx(600).epsilon(0.01));
  CHECK(input.fix->kind == FixKind::kCeiling);
  CHECK(run.step_us(parse_scaling(*run.predictor, "io_read=0.5")) ==
        doctest::Approx(1100).epsilon(0.01));
}

TEST_CASE("copies that are made ahead leave the kernels, but the link stays busy") {
  auto step = [](std::int64_t copy) {
    return [copy](TraceBuilder& builder, std::int64_t now) {
      builder.launch(
          1, now, now + 5 * kUs, now + 10 * kUs, now + 10 * kUs + copy,
          {.kind = DeviceOpKind::kCopyHostToDevice, .source = trace::MemoryKind::kPinned});
      std::int64_t ready = now + 10 * kUs + copy;
      for (int k = 0; k < 20; ++k) {
        builder.launch(1, now + (6 + k) * kUs, now + (6 + k) * kUs + 500, ready + k * 50 * kUs,
                       ready + (k + 1) * 50 * kUs,
                       {.phase = k < 19 ? Phase::kForward : Phase::kUpdate});
      }
      // Nothing of the next step is launched before this one is over.
      builder.call(1, DeviceCallKind::kStreamSynchronize, now + 30 * kUs, ready + 1000 * kUs);
      return ready + 1000 * kUs;
    };
  };
  Run some(step(400 * kUs));
  CHECK(some.of("overlap-copies").prediction.step.ns / 1e3 == doctest::Approx(1010).epsilon(0.02));
  Run many(step(3000 * kUs));
  CHECK(many.of("overlap-copies").prediction.step.ns / 1e3 == doctest::Approx(3000).epsilon(0.02));
}

TEST_CASE("kernels beside communication take longer where the recording shows that they do") {
  auto run = [](double slower) {
    // Ten backward kernels, a message beside the first four of them and ten after all: so few begin
    // early that communication is not taken to be overlapped as it is.
    return Run([slower](TraceBuilder& builder, std::int64_t now) {
      const std::int64_t begin = now;
      for (int k = 0; k < 10; ++k) {
        const auto length = static_cast<std::int64_t>((k < 4 ? slower : 1.0) * 100 * kUs);
        builder.launch(1, begin + k * kUs, begin + k * kUs + 500, now + 20 * kUs,
                       now + 20 * kUs + length, {.phase = Phase::kBackward});
        now += length;
      }
      const auto beside = static_cast<std::int64_t>(slower * 400 * kUs);
      builder.launch(1, begin + 11 * kUs, begin + 12 * kUs, begin + 20 * kUs,
                     begin + 20 * kUs + beside, {.name = "ncclDevKernel_AllReduce", .stream = 2});
      for (int m = 0; m < 10; ++m) {
        builder.launch(1, begin + (13 + m) * kUs, begin + (13 + m) * kUs + 500,
                       now + (20 + 40 * m) * kUs, now + (60 + 40 * m) * kUs,
                       {.name = "ncclDevKernel_AllReduce", .stream = 2});
      }
      builder.call(1, DeviceCallKind::kDeviceSynchronize, begin + 24 * kUs, now + 425 * kUs, 0);
      return now + 425 * kUs;
    });
  };
  Run same = run(1);
  OverlapSlowdown none = fit_overlap_slowdown(*same.predictor, trace::DeviceId{0});
  CHECK(none.kernels == 10 * kSteps);
  CHECK(none.log_per_overlap == doctest::Approx(0).epsilon(1e-6));
  Run slow = run(1.2);
  OverlapSlowdown fitted = fit_overlap_slowdown(*slow.predictor, trace::DeviceId{0});
  CHECK(fitted.stretch(1) == doctest::Approx(1.2).epsilon(0.001));
  const FixPrediction& fix = slow.of("overlap-communication");
  REQUIRE(fix.applies);
  CHECK(fix.text.find("20.0 % longer") != std::string::npos);
  // All communication beside the backward pass: its kernels take longer, so less is gained.
  CHECK(fix.prediction.gain < same.of("overlap-communication").prediction.gain);
}

TEST_CASE("an update in many kernels becomes one that takes what they take beyond their start") {
  Run run([](TraceBuilder& builder, std::int64_t now) {
    // A forward kernel of 100 µs, then 30 updates of 3 µs and one of 33 µs, each launched in 10 µs.
    builder.launch(1, now, now + 10 * kUs, now + 12 * kUs, now + 112 * kUs,
                   {.phase = Phase::kForward});
    std::int64_t call = now + 10 * kUs;
    std::int64_t free = now + 112 * kUs;
    for (int k = 0; k < 31; ++k) {
      std::int64_t start = std::max(free, call + 12 * kUs);
      free = start + (k < 30 ? 3 : 33) * kUs;
      builder.launch(1, call, call + 10 * kUs, start, free, {.phase = Phase::kUpdate});
      call += 10 * kUs;
    }
    builder.call(1, DeviceCallKind::kStreamSynchronize, call, free + 5 * kUs);
    return free + 5 * kUs;
  });
  const FixPrediction& fix = run.of("multi-tensor-optimizer");
  REQUIRE(fix.applies);
  // Launch 12, forward 100, update 30 * 3 + 33 - 30 * 3 = 33, wake-up 5.
  CHECK(fix.prediction.step.ns / 1e3 == doctest::Approx(150).epsilon(0.02));
}

TEST_CASE("gains never exceed the step, and the best combination gains as much as any fix in it") {
  for (auto step : {step_with_syncs, step_of_launches}) {
    Run run(step);
    WhatIf result = what_if(*run.predictor);
    for (const FixPrediction& one : result.fixes) {
      if (!one.applies) {
        CHECK_FALSE(one.text.empty());
        continue;
      }
      CHECK(one.prediction.step.ns >= 0);
      CHECK(one.prediction.gain <= result.baseline.recorded);
      CHECK(one.prediction.gain_ns.low <= static_cast<double>(one.prediction.gain.ns));
      CHECK(one.prediction.gain_ns.high >= static_cast<double>(one.prediction.gain.ns));
      double basis = one.prediction.basis[0] + one.prediction.basis[1] + one.prediction.basis[2];
      CHECK(basis == doctest::Approx(1));
      // A larger batch's lengths are per recorded batch: it is not among them.
      const bool combines = one.fix->propose(*run.predictor).scenario.work == 1;
      if (one.fix->kind != FixKind::kCeiling && combines && !result.best.empty())
        CHECK(result.best.back().together.gain.ns >= one.prediction.gain.ns * 0.99);
    }
  }
}

TEST_CASE("without steps a prediction is about the whole span") {
  TraceBuilder no_steps;
  step_with_syncs(no_steps, 0);
  trace::Trace trace = no_steps.load();
  Analysis analysis = analyze(trace);
  Predictor predictor(trace, analysis);
  REQUIRE(predictor.missing().empty());
  CHECK(predictor.baseline().steps == 1);
  CHECK(predictor.baseline().recorded == analysis.partitions.front().per_steady_step.total());
  const WhatIf result = what_if(predictor);
  const auto syncs = std::ranges::find_if(
      result.fixes, [](const FixPrediction& one) { return one.fix->id == "remove-syncs"; });
  REQUIRE(syncs != result.fixes.end());
  CHECK(syncs->applies);
  CHECK(syncs->prediction.gain.ns > 0);
}

TEST_CASE("what cannot be predicted is said, with what to record") {
  TraceBuilder
      no_device;  // steps are told by their names alone, so nothing on the thread is a task
  for (int i = 0; i < kSteps; ++i)
    no_device.range(1, "step " + std::to_string(i), i * 1000, i * 1000 + 900);
  trace::Trace host = no_device.load();
  Analysis of_host = analyze(host);
  const Predictor predictor(host, of_host);
  CHECK(predictor.missing().find("device calls") != std::string::npos);
  WhatIf result = what_if(predictor);
  CHECK(result.fixes.empty());
  CHECK(render_json(result, predictor).find("cannot_predict") != std::string::npos);
}

TEST_CASE("steps of a thread without device, loader and calls are replayed by what they do") {
  TraceBuilder builder;
  for (int i = 0; i < kSteps; ++i) {
    const std::int64_t t = i * 10'000'000;
    builder.range(1, "step", t, t + 9'000'000, {.kind = RangeKind::kStep, .step = i});
    builder.range(1, "conv2d", t, t + 5'000'000);
    builder.range(1, "evaluation", t + 9'000'000, t + 9'500'000);
  }
  trace::Trace host = builder.load();
  Analysis of_host = analyze(host);
  const Predictor predictor(host, of_host);
  REQUIRE(predictor.missing().empty());
  CHECK(predictor.baseline().residual == doctest::Approx(0).epsilon(1e-6));
  CHECK(predictor.baseline().recorded.ns == 10'000'000);
  WhatIf result = what_if(predictor);
  auto gain = [&](std::string_view id) {
    const auto fix =
        std::ranges::find(result.fixes, id, [](const FixPrediction& one) { return one.fix->id; });
    REQUIRE(fix != result.fixes.end());
    return fix->applies ? fix->prediction.gain.ns : 0;
  };
  CHECK(gain("free-host") == 4'000'000);
  CHECK(gain("evaluate-less-often") == 250'000);
}

TEST_CASE("a scaling that means nothing here is refused with what there is") {
  Run run(step_of_launches);
  auto refused = [&](std::string_view text) {
    try {
      parse_scaling(*run.predictor, text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  CHECK(refused("launch_gap").find("expected WHAT=FACTOR") != std::string::npos);
  CHECK(refused("launch_gap=fast").find("is not a factor") != std::string::npos);
  CHECK(refused("launch_gap=-1").find("is not a factor") != std::string::npos);
  CHECK(refused("lunch_gap=0.5").find("Classes: compute_tensor, ") != std::string::npos);
  CHECK(refused("kernel:nothing=0.5").find("kernel:nothing=0.5: no kernel") != std::string::npos);
  CHECK(refused("thread:1=0.5").find("is none of class, op, kernel") != std::string::npos);
}

TEST_CASE(
    "a wait for an event goes where it drains the device, and stays where there is work behind "
    "it") {
  Run drained([](TraceBuilder& b, std::int64_t now) { return step_with_events(b, now, true); });
  const FixPrediction& fix = drained.of("remove-syncs");
  REQUIRE(fix.applies);
  CHECK(fix.prediction.step.ns / 1e3 == doctest::Approx(2000).epsilon(0.01));
  Run ahead([](TraceBuilder& b, std::int64_t now) { return step_with_events(b, now, false); });
  CHECK_FALSE(ahead.of("remove-syncs").applies);
}

TEST_CASE("a finding whose cause has a known fix says what that would gain, others do not") {
  Run run(step_with_syncs);
  predict_findings(run.trace, run.analysis);
  bool found = false;
  for (const Finding& finding : run.analysis.findings) {
    CAPTURE(finding.rule);
    if (finding.rule == "host-sync" && finding.status == Status::kFound) {
      found = true;
      REQUIRE(finding.predicted);
      CHECK(finding.predicted->fix == "remove-syncs");
      // 2400 us a step, of which the kernels take 2000; the waits alone are far more than 400.
      CHECK(finding.predicted->step.ns == doctest::Approx(2'000'000).epsilon(0.03));
      CHECK(finding.predicted->share == doctest::Approx(1.0 / 6).epsilon(0.15));
      CHECK(finding.predicted->low <= finding.predicted->share);
      CHECK(finding.predicted->high >= finding.predicted->share);
    }
    if (finding.status == Status::kFine || finding.status == Status::kCannotTell)
      CHECK(!finding.predicted);
  }
  CHECK(found);
}

}  // namespace headway::analyzer
