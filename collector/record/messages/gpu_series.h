// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace headway::record {

/// Counter series of a GPU. NVML samples them in the recorder; where there is no NVML, CUPTI
/// samples some in the program. The names are those that rules look for
/// (analyzer/evidence/counters.h).
struct GpuSeries {
  std::string_view name;  ///< in HEADWAY_COUNTERS
  std::string_view unit;  ///< unit to which the sampler converts the values
  std::string_view description;
};

inline constexpr GpuSeries kGpuUtilisation = {"gpu.utilisation", "%",
                                              "Time in which a kernel ran, as sampled by NVML."};
inline constexpr GpuSeries kGpuMemoryUtilisation = {"gpu.memory_utilisation", "%",
                                                    "Time with reads or writes of device memory."};
inline constexpr GpuSeries kGpuMemoryUsed = {"gpu.memory_used", "bytes",
                                             "Device memory used by all processes."};
inline constexpr GpuSeries kGpuSmClock = {"gpu.sm_clock", "Hz", "Clock of the multiprocessors."};
inline constexpr GpuSeries kGpuMemoryClock = {"gpu.memory_clock", "Hz", "Clock of the memory."};
inline constexpr GpuSeries kGpuThrottleReasons = {
    "gpu.throttle_reasons", "bits",
    "Reason for a clock below maximum: 1 idle, 2 application setting, 4 power, 8 hardware, 16 sync "
    "boost, 32 software thermal, 64 hardware thermal, 128 power brake, 256 display."};
inline constexpr GpuSeries kGpuPower = {"gpu.power", "W", "Power drawn."};
inline constexpr GpuSeries kGpuTemperature = {"gpu.temperature", "C", "Temperature of the GPU."};
inline constexpr GpuSeries kGpuPcieReceived = {"gpu.pcie_received", "bytes/s",
                                               "Received over PCIe."};
inline constexpr GpuSeries kGpuPcieSent = {"gpu.pcie_sent", "bytes/s", "Sent over PCIe."};
inline constexpr GpuSeries kGpuNvlinkReceived = {"gpu.nvlink_received", "bytes/s",
                                                 "Received over all NVLinks."};
inline constexpr GpuSeries kGpuNvlinkSent = {"gpu.nvlink_sent", "bytes/s",
                                             "Sent over all NVLinks."};
inline constexpr GpuSeries kGpuSmActive = {"gpu.sm_active", "%",
                                           "Share of busy multiprocessors, mean over the sample."};
inline constexpr GpuSeries kGpuSmOccupancy = {"gpu.sm_occupancy", "%",
                                              "Active warps, share of the maximum."};
inline constexpr GpuSeries kGpuTensorActive = {"gpu.tensor_active", "%",
                                               "Share of the tensor cores' peak rate."};
inline constexpr GpuSeries kGpuDramActive = {"gpu.dram_active", "%",
                                             "Share of the memory's peak bandwidth."};

}  // namespace headway::record
