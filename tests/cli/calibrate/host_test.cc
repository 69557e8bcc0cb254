// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include <cmath>

#include "cli/calibrate/calibrate.h"
#include "cli/calibrate/host/threads.h"

namespace headway::calibrate {

TEST_CASE("every figure of the host is measured, positive, and its percentiles are in order") {
  const MeasuredHost host =
      measure_host({.array_bytes = 1 << 20, .repetitions = 3, .wake_ups = 20});
  for (const MachineFigureInfo& one : machine_figures()) {
    CAPTURE(one.id);
    if (one.of_device || one.figure == MachineFigure::kHostCollective) {
      CHECK_FALSE(host.figures[one.figure]);
      continue;
    }
    REQUIRE(host.figures[one.figure]);
    const FigureValue& value = *host.figures[one.figure];
    CHECK(std::isfinite(value.p95));
    CHECK(value.p5 > 0);
    CHECK(value.p5 <= value.p50);
    CHECK(value.p50 <= value.p95);
    CHECK(value.samples >= 3);
  }
  CHECK(host.absent.empty());
}

TEST_CASE("each repetition of a measurement on several threads is timed once") {
  std::vector<int> prepared(3), worked(3);
  const std::vector<double> seconds = time_together(
      3, 5, [&](int thread) { ++prepared[static_cast<std::size_t>(thread)]; },
      [&](int thread) { ++worked[static_cast<std::size_t>(thread)]; });
  CHECK(seconds.size() == 5);
  for (double one : seconds) CHECK(one >= 0);
  CHECK(prepared == std::vector<int>{1, 1, 1});
  CHECK(worked == std::vector<int>{5, 5, 5});
}

TEST_CASE("figures are printed with the unit that fits") {
  CHECK(format_figure(FigureUnit::kNs, 23.46) == "23 ns");
  CHECK(format_figure(FigureUnit::kNs, 4.25) == "4.2 ns");
  CHECK(format_figure(FigureUnit::kNs, 1300) == "1.30 µs");
  CHECK(format_figure(FigureUnit::kBytesPerSecond, 4.3e12) == "4.30 TB/s");
  CHECK(format_figure(FigureUnit::kFlops, 788e12) == "788 TFLOP/s");
  CHECK_FALSE(figure_of({}));
}

TEST_CASE("the GPU's part says why when there is none") {
  const CudaMeasurement cuda = measure_cuda();
  CHECK(cuda.devices.empty() == !cuda.missing.empty());
}

}  // namespace headway::calibrate
