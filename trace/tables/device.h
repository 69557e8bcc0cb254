// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Device : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_DEVICE";
  static constexpr std::string_view doc = "Devices that are not seen through CUPTI.";

  struct Row {
    std::int64_t global_pid = 0;
    std::int32_t device_id = 0;
    std::int32_t type = 0;
    std::int32_t cores = 0;
    std::string_view device_name;
    std::optional<std::int64_t> compute_major = {};
    std::optional<std::int64_t> compute_minor = {};
    std::optional<std::int64_t> total_memory = {};
    std::optional<std::int64_t> memory_bandwidth = {};
    std::optional<std::int64_t> clock_rate = {};
  };
  static constexpr auto columns = std::tuple{
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
      Column{"deviceId", &Row::device_id, Unit::kId, "Device ID."},
      Column{"type", &Row::type, Unit::kEnum, "1 CUDA, 2 host, 3 simulated."},
      Column{"cores", &Row::cores, Unit::kCount, "Threads or multiprocessors that share one op."},
      Column{"name", &Row::device_name, Unit::kNone, "Device name."},
      Column{"computeMajor", &Row::compute_major, Unit::kNone, "Compute capability, major."},
      Column{"computeMinor", &Row::compute_minor, Unit::kNone, "Compute capability, minor."},
      Column{"totalMemory", &Row::total_memory, Unit::kBytes, "Size of the device memory."},
      Column{"memoryBandwidth", &Row::memory_bandwidth, Unit::kNone,
             "Peak memory bandwidth (bytes/s)."},
      Column{"clockRate", &Row::clock_rate, Unit::kHz, "Highest clock frequency."},
  };
};

}  // namespace headway::trace::tables
