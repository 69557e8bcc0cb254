// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct TargetInfoGpu : TableDefaults {
  static constexpr std::string_view name = "TARGET_INFO_GPU";
  static constexpr std::string_view doc = "CUDA devices of the machine.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::int64_t id = 0;
    std::optional<std::string_view> gpu_name;
    std::optional<std::string_view> bus_location;
    std::optional<std::int64_t> total_memory;
    std::optional<std::int64_t> memory_bandwidth;
    std::optional<std::int64_t> clock_rate;
    std::optional<std::int64_t> sm_count;
    std::optional<std::string_view> chip_name;
    std::optional<std::int64_t> sm_major;
    std::optional<std::int64_t> sm_minor;
  };
  static constexpr auto columns = std::tuple{
      Column{"id", &Row::id, Unit::kId, "Device ID."},
      Column{"name", &Row::gpu_name, Unit::kNone, "Device name."},
      Column{"busLocation", &Row::bus_location, Unit::kNone, "Place on the PCI bus."},
      Column{"totalMemory", &Row::total_memory, Unit::kBytes, "Size of the device memory."},
      Column{"memoryBandwidth", &Row::memory_bandwidth, Unit::kNone,
             "Peak memory bandwidth (bytes/s)."},
      Column{"clockRate", &Row::clock_rate, Unit::kHz, "Clock frequency."},
      Column{"smCount", &Row::sm_count, Unit::kCount, "Multiprocessors."},
      Column{"chipName", &Row::chip_name, Unit::kNone, "Name of the chip."},
      Column{"computeMajor", &Row::sm_major, Unit::kNone, "Compute capability, major."},
      Column{"computeMinor", &Row::sm_minor, Unit::kNone, "Compute capability, minor."},
  };
};

}  // namespace headway::trace::tables
