// SPDX-License-Identifier: MIT
#include "reference_trainer/simulated_trace/write_calibration.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>

#include "common/error.h"
#include "common/machine_figures.h"
#include "reference_trainer/simulated_trace/write_trace.h"

namespace headway::trainer::sim {
namespace {

/// A model has one value for each figure.
void add(std::string& json, MachineFigure figure, double value) {
  if (value <= 0) return;
  json += fmt::format(
      R"({}"{}": {{"unit": "{}", "p5": {:.17g}, "p50": {:.17g}, "p95": {:.17g}, "samples": 1}})",
      json.empty() ? "" : ",\n    ", info(figure).id, unit_name(info(figure).unit), value, value,
      value);
}

std::string figures_of(SimulatedGpu gpu) {
  using enum MachineFigure;
  const GpuCosts& costs = *gpu.costs;
  const GpuModel& model = *gpu.model;
  auto value = [](std::int64_t whole) { return static_cast<double>(whole); };
  const double matrix = costs.matrix_share;
  std::string json;
  add(json, kLaunch, value(costs.launch_latency_ns));
  add(json, kKernelGap, value(costs.kernel_gap_ns));
  add(json, kSync, value(costs.sync_wake_ns));
  add(json, kToDevicePinned, value(costs.pinned_bytes_per_s));
  add(json, kToDevicePageable, value(costs.pageable_bytes_per_s));
  add(json, kFromDevicePinned, value(costs.pinned_bytes_per_s));
  add(json, kFromDevicePageable, value(costs.pageable_bytes_per_s));
  add(json, kDeviceTriad, costs.memory_share * value(model.memory_bytes_per_second));
  add(json, kGemmFp32, matrix * model.fp32_flops);
  add(json, kGemmTf32, matrix * model.tf32_flops);
  add(json, kGemmFp16, matrix * model.half_flops);
  if (model.bf16) add(json, kGemmBf16, matrix * model.half_flops);
  return json;
}

}  // namespace

void write_calibration(const SimulatedRun& run, const std::filesystem::path& path) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  // Simulated time has no date; a fixed one keeps the file the same from run to run.
  out << fmt::format(
      R"({{"schema": "headway.calibration", "version": 1, "measured": "2000-01-01T00:00:00Z", "headway_version": "",
  "host": {{"name": "", "processor": "", "system": "", "processors": 0, "memory_bytes": 0, "figures": {{}}, "absent": {{}}}},
  "devices": [{{"name": "{}", "driver": "", "memory_bytes": 0, "absent": {{}}, "figures": {{
    {}}}}}]}}
)",
      device_name(run.gpu), figures_of(run.gpu));
  out.close();
  if (!out)
    fail_usage("--calibration {}: cannot be written: {}.", path.string(), system_error_text(errno));
}

}  // namespace headway::trainer::sim
