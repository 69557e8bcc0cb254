// SPDX-License-Identifier: MIT
#include "analyzer/hardware/machine_facts.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "analyzer/hardware/model_figures.h"
#include "common/gpu_models.h"
#include "trace/meta_keys.h"

namespace headway::analyzer {
namespace {

MachineCalibration of_h100() {
  MachineCalibration calibration;
  calibration.measured = "2026-11-22T09:10:00Z";
  calibration.host.processor = "AMD EPYC 9654";
  calibration.host.figures[MachineFigure::kWakeUp] = {1, 2, 3, 20};
  MeasuredDevice& device = calibration.devices.emplace_back();
  device.name = "NVIDIA H100 80GB HBM3";
  device.figures[MachineFigure::kKernelGap] = {900, 1'000, 1'100, 499};
  return calibration;
}

trace::Device device_of(std::string name) {
  trace::Device device;
  device.name = std::move(name);
  return device;
}

}  // namespace

TEST_CASE("a calibration of the device comes before the table, which comes before nothing") {
  const MachineFacts facts(of_h100());
  const trace::Device same = device_of("NVIDIA H100 80GB HBM3");
  const auto measured = facts.of(same, MachineFigure::kKernelGap);
  REQUIRE(measured);
  CHECK(measured->origin == FactOrigin::kCalibration);
  CHECK(measured->value.p50 == 1'000);
  CHECK(measured->source == "measured 2026-11-22 on NVIDIA H100 80GB HBM3");
  // Not measured: the table; not there either: nothing.
  const auto from_table = facts.of(same, MachineFigure::kLaunch);
  REQUIRE(from_table);
  CHECK(from_table->origin == FactOrigin::kTable);
  CHECK(from_table->source.starts_with("table, h100-sxm: "));
  CHECK_FALSE(facts.of(same, MachineFigure::kSync));
  // Another device: the table, never another's calibration.
  const auto of_v100 = facts.of(device_of("Tesla V100-SXM2-32GB"), MachineFigure::kKernelGap);
  REQUIRE(of_v100);
  CHECK(of_v100->origin == FactOrigin::kTable);
  CHECK(of_v100->value.p50 == 800);
  CHECK_FALSE(facts.of(device_of("NVIDIA GeForce RTX 3080"), MachineFigure::kKernelGap));
  CHECK_FALSE(facts.of(device_of(""), MachineFigure::kKernelGap));
  CHECK(MachineFacts().of(same, MachineFigure::kKernelGap)->origin == FactOrigin::kTable);
}

TEST_CASE("the host's figures are used where the recording names the same processor") {
  const MachineFacts facts(of_h100());
  trace::Trace trace;
  CHECK_FALSE(facts.of_host(trace, MachineFigure::kWakeUp));
  CHECK_FALSE(facts.fits(trace));
  trace.meta.emplace(trace::meta::kCpu, "AMD EPYC 9654");
  CHECK(facts.of_host(trace, MachineFigure::kWakeUp)->value.p50 == 2);
  CHECK_FALSE(facts.of_host(trace, MachineFigure::kClockRead));
  CHECK(facts.fits(trace));
  CHECK_FALSE(MachineFacts().of_host(trace, MachineFigure::kWakeUp));
}

TEST_CASE("every row of the table is of a known model and a figure of devices, and has a source") {
  for (const ModelFigure& row : model_figures()) {
    CAPTURE(row.model);
    CHECK(std::ranges::count(gpu_models(), row.model, &GpuModel::id) == 1);
    CHECK(info(row.figure).of_device);
    CHECK(row.value.p5 > 0);
    CHECK(row.value.p5 <= row.value.p50);
    CHECK(row.value.p50 <= row.value.p95);
    CHECK(row.value.samples >= 20);
    CHECK_FALSE(row.source.empty());
    CHECK(find_model_figure(row.model, row.figure) == &row);
  }
}

}  // namespace headway::analyzer
