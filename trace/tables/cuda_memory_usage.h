// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct CudaMemoryUsage : TableDefaults {
  static constexpr std::string_view name = "CUDA_GPU_MEMORY_USAGE_EVENTS";
  static constexpr std::string_view doc = "Allocations and releases of memory through CUDA.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::int64_t start = 0;
    std::int64_t global_pid = 0;
    std::int64_t device_id = 0;
    std::int64_t context_id = 0;
    std::int64_t address = 0;
    std::int64_t pc = 0;
    std::int64_t bytes = 0;
    std::int64_t mem_kind = 0;
    std::int64_t operation = 0;
    std::optional<std::string_view> variable;
    std::optional<std::int64_t> correlation_id;
    std::optional<std::int64_t> stream_id;
    std::optional<std::int64_t> local_pool_address;
    std::optional<std::int64_t> local_pool_threshold;
    std::optional<std::int64_t> local_pool_size;
    std::optional<std::int64_t> local_pool_used;
    std::optional<std::int64_t> imported_pool_address;
    std::optional<std::int64_t> imported_pool_process;
  };
  static constexpr auto columns = std::tuple{
      Column{"start", &Row::start, Unit::kNs, "Time, since the session start."},
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
      Column{"deviceId", &Row::device_id, Unit::kId, "Device ID."},
      Column{"contextId", &Row::context_id, Unit::kId, "Context ID."},
      Column{"address", &Row::address, Unit::kNone, "Address of the memory."},
      Column{"pc", &Row::pc, Unit::kNone, "Program counter of the call."},
      Column{"bytes", &Row::bytes, Unit::kBytes, "Size of the memory."},
      Column{"memKind", &Row::mem_kind, Unit::kEnum,
             "Memory: 0 pageable, 1 pinned, 2 device, 3 array, 4 managed, 5 device static, 6 "
             "managed static, 7 unknown."},
      Column{"memoryOperationType", &Row::operation, Unit::kEnum, "0 allocation, 1 release."},
      Column{"name", &Row::variable, Unit::kNone, "Name of the variable, of static memory."},
      Column{"correlationId", &Row::correlation_id, Unit::kId, "Same as that of the API call."},
      Column{"streamId", &Row::stream_id, Unit::kId, "Stream ID, of asynchronous calls."},
      Column{"localMemoryPoolAddress", &Row::local_pool_address, Unit::kNone,
             "Address of the pool of this process that it came from."},
      Column{"localMemoryPoolReleaseThreshold", &Row::local_pool_threshold, Unit::kBytes,
             "What that pool keeps."},
      Column{"localMemoryPoolSize", &Row::local_pool_size, Unit::kBytes, "Size of that pool."},
      Column{"localMemoryPoolUtilizedSize", &Row::local_pool_used, Unit::kBytes,
             "How much of that pool is in use."},
      Column{"importedMemoryPoolAddress", &Row::imported_pool_address, Unit::kNone,
             "Address of the pool of another process that it came from."},
      Column{"importedMemoryPoolProcessId", &Row::imported_pool_process, Unit::kId,
             "That process."},
  };
};

}  // namespace headway::trace::tables
