// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct CudaMemoryPool : TableDefaults {
  static constexpr std::string_view name = "CUDA_GPU_MEMORY_POOL_EVENTS";
  static constexpr std::string_view doc = "What happens to pools of device memory.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::int64_t start = 0;
    std::int64_t global_pid = 0;
    std::int64_t device_id = 0;
    std::int64_t address = 0;
    std::int64_t operation = 0;
    std::int64_t pool_type = 0;
    std::optional<std::int64_t> correlation_id;
    std::optional<std::int64_t> min_bytes_to_keep;
    std::optional<std::int64_t> release_threshold;
    std::optional<std::int64_t> size;
    std::optional<std::int64_t> used;
  };
  static constexpr auto columns = std::tuple{
      Column{"start", &Row::start, Unit::kNs, "Time, since the session start."},
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
      Column{"deviceId", &Row::device_id, Unit::kId, "Device ID."},
      Column{"address", &Row::address, Unit::kNone, "Address of the pool."},
      Column{"operationType", &Row::operation, Unit::kEnum, "1 created, 2 destroyed, 3 trimmed."},
      Column{"poolType", &Row::pool_type, Unit::kEnum, "1 of this process, 2 imported."},
      Column{"correlationId", &Row::correlation_id, Unit::kId, "Same as that of the API call."},
      Column{"minBytesToKeep", &Row::min_bytes_to_keep, Unit::kBytes, "Bytes that a trim keeps."},
      Column{"localMemoryPoolReleaseThreshold", &Row::release_threshold, Unit::kBytes,
             "Contents of the pool."},
      Column{"localMemoryPoolSize", &Row::size, Unit::kBytes, "Size of the pool."},
      Column{"localMemoryPoolUtilizedSize", &Row::used, Unit::kBytes, "How much of it is in use."},
  };
};

}  // namespace headway::trace::tables
