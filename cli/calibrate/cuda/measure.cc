// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/calibrate/calibrate.h"
#include "cli/calibrate/cuda/measurements.h"
#include "common/error.h"

namespace headway::calibrate {
namespace {

struct Group {
  void (*measure)(Session&, FigureSet&);
  MachineFigure first;
  MachineFigure last;
};
constexpr auto kGroups = std::to_array<Group>({
    {measure_launches, MachineFigure::kKernelPeriod, MachineFigure::kIdleSync},
    {measure_copies, MachineFigure::kToDevicePinned, MachineFigure::kFromDevicePageable},
    {measure_device_triad, MachineFigure::kDeviceTriad, MachineFigure::kDeviceTriad},
    {measure_gemms, MachineFigure::kGemmFp32, MachineFigure::kGemmBf16},
});

void measure_group(const Group& group, Session& session, MeasuredDevice& device) {
  std::string why = "not measured";
  try {
    group.measure(session, device.figures);
  } catch (const Error& error) {
    why = error.what();
  }
  for (const MachineFigureInfo& one : machine_figures())
    if (one.figure >= group.first && one.figure <= group.last && !device.figures[one.figure])
      device.absent.push_back({one.figure, why});
}

MeasuredDevice describe(const Driver& driver, int ordinal) {
  CUdevice device = 0;
  char name[256] = "";
  std::size_t bytes = 0;
  HEADWAY_CU(driver, cuDeviceGet, &device, ordinal);
  HEADWAY_CU(driver, cuDeviceGetName, name, sizeof name - 1, device);
  HEADWAY_CU(driver, cuDeviceTotalMem, &bytes, device);
  MeasuredDevice result;
  result.name = name;
  result.driver = fmt::format("CUDA {}.{}", driver.version / 1000, driver.version % 1000 / 10);
  result.memory_bytes = static_cast<std::int64_t>(bytes);
  return result;
}

}  // namespace

CudaMeasurement measure_cuda() {
  CudaMeasurement result;
  std::unique_ptr<Driver> driver = cuda::load_driver(result.missing);
  if (!driver) return result;
  try {
    int count = 0;
    HEADWAY_CU(*driver, cuDeviceGetCount, &count);
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      MeasuredDevice device = describe(*driver, ordinal);
      if (std::ranges::any_of(result.devices, [&](const auto& d) { return d.name == device.name; }))
        continue;
      Session session(*driver, ordinal);
      for (const Group& group : kGroups) measure_group(group, session, device);
      device.absent.push_back(
          {MachineFigure::kCollective, "it needs several GPUs: NCCL with one rank moves nothing"});
      result.devices.push_back(std::move(device));
    }
  } catch (const Error& error) {
    if (result.devices.empty()) result.missing = error.what();
  }
  return result;
}

}  // namespace headway::calibrate
