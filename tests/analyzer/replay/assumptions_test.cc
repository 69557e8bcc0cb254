// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "analyzer/analysis.h"
#include "analyzer/whatif/whatif.h"
#include "tests/support/trace_builder.h"

namespace headway::analyzer {
namespace {

using test::TraceBuilder;

constexpr std::int64_t kUs = 1000;
constexpr int kSteps = 24;

/// Twenty SGEMMs of 100 µs a step on an H100; the host waits for each, so that no kernel ever follows
/// another that it was queued behind.
trace::Trace waited_for() {
  TraceBuilder builder;
  std::int64_t now = 0;
  for (int i = 0; i < kSteps; ++i) {
    const std::int64_t begin = now;
    for (int k = 0; k < 20; ++k, now += 120 * kUs) {
      builder.launch(1, now, now + 10 * kUs, now + 15 * kUs, now + 115 * kUs,
                     {.name = "volta_sgemm_128x64_nn"});
      builder.call(1, trace::DeviceCallKind::kStreamSynchronize, now + 11 * kUs, now + 120 * kUs);
    }
    builder.range(1, "step", begin, now, {.kind = trace::RangeKind::kStep, .step = i});
  }
  trace::Trace trace = builder.load();
  for (trace::Device& device : trace.devices) {
    device.type = trace::DeviceType::kCuda;
    device.name = "NVIDIA H100 80GB HBM3";
  }
  return trace;
}

MachineFacts calibrated() {
  MachineCalibration calibration;
  calibration.measured = "2026-11-22T09:10:00Z";
  MeasuredDevice& device = calibration.devices.emplace_back();
  device.name = "NVIDIA H100 80GB HBM3";
  device.figures[MachineFigure::kKernelGap] = {900, 1'000, 1'100, 499};
  device.figures[MachineFigure::kGemmFp32] = {5e13, 5e13, 5e13, 12};
  device.figures[MachineFigure::kGemmTf32] = {4e14, 4e14, 4e14, 12};
  // Never needed: the recording shows both.
  device.figures[MachineFigure::kLaunch] = {1, 1, 1, 20};
  device.figures[MachineFigure::kSync] = {1, 1, 1, 20};
  return MachineFacts(calibration);
}

std::int64_t step_without_syncs(const Predictor& predictor) {
  for (const FixPrediction& one : what_if(predictor).fixes)
    if (one.fix->id == "remove-syncs") return one.prediction.step.ns;
  return 0;
}

}  // namespace

TEST_CASE("a prediction takes the kernel gap from calibration, table or default, and says which") {
  trace::Trace trace = waited_for();
  const Analysis analysis = analyze(trace);
  const Predictor predictor(trace, analysis, calibrated());
  const std::vector<Assumption> assumed = predictor.assumptions();
  // Launch and wake-up are the recording's; no wait ever found the device idle.
  REQUIRE(assumed.size() == 2);
  CHECK(assumed[1].delay == "blocking_call");
  CHECK(to_text(assumed[0])
            .starts_with("kernel gap 1.00 µs: measured 2026-11-22 on NVIDIA H100 80GB HBM3; "));
  // Twenty kernels of 100 µs, and as many gaps.
  CHECK(step_without_syncs(predictor) == doctest::Approx(2'020'000).epsilon(0.001));

  const Predictor by_table(trace, analysis);
  CHECK(by_table.assumptions().at(0).origin == FactOrigin::kTable);
  CHECK(step_without_syncs(by_table) == doctest::Approx(2'027'520).epsilon(0.001));

  for (trace::Device& device : trace.devices) device.name = "";
  const Predictor by_default(trace, analysis);
  CHECK(to_text(by_default.assumptions().at(0)).starts_with("kernel gap 1.30 µs: default; "));
  CHECK(step_without_syncs(by_default) == doctest::Approx(2'026'000).epsilon(0.001));
}

TEST_CASE("text and JSON of whatif name what was assumed") {
  const trace::Trace trace = waited_for();
  const Analysis analysis = analyze(trace);
  const Predictor predictor(trace, analysis, calibrated());
  const WhatIf result = what_if(predictor);
  CHECK(render_text(result, predictor)
            .find("Assumed: kernel gap 1.00 µs: measured 2026-11-22 on NVIDIA H100") !=
        std::string::npos);
  const std::string json = render_json(result, predictor);
  CHECK(json.find("\"delay\": \"kernel_gap\"") != std::string::npos);
  CHECK(json.find("\"origin\": \"calibration\"") != std::string::npos);
}

TEST_CASE("measured rates of products take the place of the formula for tensor cores") {
  const trace::Trace trace = waited_for();
  const Analysis analysis = analyze(trace);
  auto text_of = [&](const Predictor& predictor) {
    for (const FixPrediction& one : what_if(predictor).fixes)
      if (one.fix->id == "tensor-cores") return one.text;
    return std::string();
  };
  CHECK(text_of(Predictor(trace, analysis, calibrated()))
            .find("8.0× faster (TF32 on h100-sxm; matrix products, measured 2026-11-22") !=
        std::string::npos);
  CHECK(text_of(Predictor(trace, analysis))
            .find("5.2× faster (TF32 on h100-sxm; 0.7 × the ratio of the peaks)") !=
        std::string::npos);
}

}  // namespace headway::analyzer
