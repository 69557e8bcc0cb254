// SPDX-License-Identifier: MIT
#include "cli/commands/recorded_launches.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/trace_builder.h"

namespace headway::cli {
namespace {

using test::TraceBuilder;

/// What `run_launches` does: round trips (4 µs of launch latency, 2 µs of wake-up), then kernels that were
/// queued behind a long one, 1.1 µs apart.
trace::Trace recorded(int round_trips) {
  TraceBuilder builder;
  std::int64_t now = 0;
  for (int i = 0; i < round_trips; ++i, now += 20'000) {
    builder.launch(1, now, now + 3'000, now + 4'000, now + 5'000, {});
    builder.call(1, trace::DeviceCallKind::kStreamSynchronize, now + 3'500, now + 7'000);
  }
  std::int64_t free = now + 1'000'000;
  builder.launch(1, now, now + 3'000, now + 4'000, free, {});
  for (int i = 0; i < 100; ++i, free += 2'100)
    builder.launch(1, now + 3'000 * (i + 1), now + 3'000 * (i + 1) + 2'000, free + 1'100,
                   free + 2'100, {});
  trace::Trace trace = builder.load();
  for (trace::Device& device : trace.devices) {
    device.type = trace::DeviceType::kCuda;
    device.name = "NVIDIA H200";
  }
  return trace;
}

}  // namespace

TEST_CASE("a recording of launches gives latency, gap and wake-up") {
  MeasuredDevice device;
  device.name = "NVIDIA H200";
  take_delays(recorded(100), device);
  REQUIRE(device.figures[MachineFigure::kLaunch]);
  CHECK(device.figures[MachineFigure::kLaunch]->p50 == 4'000);
  REQUIRE(device.figures[MachineFigure::kKernelGap]);
  CHECK(device.figures[MachineFigure::kKernelGap]->p50 == 1'100);
  REQUIRE(device.figures[MachineFigure::kSync]);
  CHECK(device.figures[MachineFigure::kSync]->p50 == 2'000);
  CHECK(device.absent.empty());
}

TEST_CASE("what the recording does not show is absent, not a default") {
  MeasuredDevice device;
  device.name = "NVIDIA H200";
  take_delays(recorded(3), device);
  CHECK_FALSE(device.figures[MachineFigure::kSync]);
  CHECK(std::ranges::count(device.absent, MachineFigure::kSync, &AbsentFigure::figure) == 1);
  MeasuredDevice other;
  other.name = "NVIDIA H100 80GB HBM3";
  take_delays(recorded(100), other);
  CHECK(other.absent.size() == 3);
}

}  // namespace headway::cli
