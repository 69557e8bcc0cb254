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
    std::optional<std::int64_t> l2_bytes;
    std::optional<std::string_view> uuid;
    std::optional<std::int64_t> constant_memory;
    std::optional<std::int64_t> block_registers;
    std::optional<std::int64_t> block_shared_memory;
    std::optional<std::int64_t> sm_shared_memory;
    std::optional<std::int64_t> sm_registers;
    std::optional<std::int64_t> warp_threads;
    std::optional<std::int64_t> copy_engines;
    std::optional<std::int64_t> sm_warps;
    std::optional<std::int64_t> sm_blocks;
    std::optional<std::int64_t> block_threads;
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
      Column{"l2CacheSize", &Row::l2_bytes, Unit::kBytes, "Size of the L2 cache."},
      Column{"uuid", &Row::uuid, Unit::kNone, "UUID."},
      Column{"constantMemory", &Row::constant_memory, Unit::kBytes, "Constant memory."},
      Column{"maxRegistersPerBlock", &Row::block_registers, Unit::kCount,
             "Most registers of a block."},
      Column{"maxShmemPerBlock", &Row::block_shared_memory, Unit::kBytes,
             "Most shared memory of a block."},
      Column{"maxShmemPerSm", &Row::sm_shared_memory, Unit::kBytes,
             "Shared memory of a multiprocessor."},
      Column{"maxRegistersPerSm", &Row::sm_registers, Unit::kCount,
             "Registers of a multiprocessor."},
      Column{"threadsPerWarp", &Row::warp_threads, Unit::kCount, "Threads of a warp."},
      Column{"asyncEngines", &Row::copy_engines, Unit::kCount, "Copy engines."},
      Column{"maxWarpsPerSm", &Row::sm_warps, Unit::kCount, "Most warps on a multiprocessor."},
      Column{"maxBlocksPerSm", &Row::sm_blocks, Unit::kCount, "Most blocks on a multiprocessor."},
      Column{"maxThreadsPerBlock", &Row::block_threads, Unit::kCount, "Most threads of a block."},
  };
};

}  // namespace headway::trace::tables
