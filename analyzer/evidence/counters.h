// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "analyzer/evidence/rule.h"

/// The counter series that rules read. `machine.*` and `process.*` are what the recorder samples
/// (docs/reference/tables.md); `gpu.*` have the meaning of the NVML query of the same name, one
/// series per device (CounterSeries::device = the device's ordinal).
namespace headway::analyzer::counters {

inline constexpr std::string_view kMachineCpu = "machine.cpu";             ///< %, of all processors
inline constexpr std::string_view kMachineDiskRead = "machine.disk_read";  ///< bytes/s
inline constexpr std::string_view kProcessCpu = "process.cpu";  ///< %, 100 is one processor
inline constexpr std::string_view kProcessReadBytes = "process.read_bytes";  ///< bytes/s
inline constexpr std::string_view kGpuSmClock = "gpu.sm_clock";              ///< Hz
inline constexpr std::string_view kGpuThrottleReasons =
    "gpu.throttle_reasons";  ///< bit set of nvmlDeviceGetCurrentClocksEventReasons
inline constexpr std::string_view kGpuMemoryUsed = "gpu.memory_used";  ///< bytes, of all processes
/// bytes that PyTorch's allocator holds, used or cached; only in traces of PyTorch's profiler with
/// profile_memory
inline constexpr std::string_view kMemoryReserved = "memory.reserved";

/// Statistics of the samples of a series inside an interval.
struct Summary {
  std::int64_t count = 0;
  double mean = 0;
  double low = 0;
  double high = 0;
};

/// The series of that name and device; without a device, the first series of that name.
const trace::CounterSeries* find(const trace::Trace& trace, std::string_view name,
                                 std::optional<trace::DeviceId> device = {});
Summary summarise(const trace::CounterSeries& series, Interval window);
/// From the start of the first steady step to the end of the last, on host or device; the whole
/// trace if it has no steps.
Interval steady_window(const RuleContext& context);
/// Statistics over the steady window; nullopt if the series is missing or has no sample there.
std::optional<Summary> steady(const RuleContext& context, std::string_view name,
                              std::optional<trace::DeviceId> device = {});

/// The peak use of a device's memory in bytes; 0 if no counter shows it.
double memory_peak(const trace::Trace& trace, trace::DeviceId device);

}  // namespace headway::analyzer::counters
