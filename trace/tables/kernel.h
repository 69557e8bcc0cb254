// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Kernel : TableDefaults {
  static constexpr std::string_view name = "CUPTI_ACTIVITY_KIND_KERNEL";
  static constexpr std::string_view doc = "Kernels that ran on CUDA devices.";
  static constexpr bool of_nsys = true;
  static constexpr std::array<std::string_view, 2> indexes = {"start", "correlationId"};

  struct Row {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int32_t device_id = 0;
    std::int32_t context_id = 0;
    std::int32_t stream_id = 0;
    std::optional<std::int64_t> correlation_id;
    std::optional<std::int64_t> global_pid;
    StringId demangled_name = {0};
    StringId short_name = {0};
    std::optional<StringId> mangled_name;
    std::int32_t registers_per_thread = 0;
    std::int32_t grid_x = 1;
    std::int32_t grid_y = 1;
    std::int32_t grid_z = 1;
    std::int32_t block_x = 1;
    std::int32_t block_y = 1;
    std::int32_t block_z = 1;
    std::int32_t static_shared_memory = 0;
    std::int32_t dynamic_shared_memory = 0;
    std::int32_t local_memory_per_thread = 0;
    std::optional<std::int64_t> graph_node_id;
    std::optional<std::int64_t> graph_id;
  };
  static constexpr auto columns = std::tuple{
      Column{"start", &Row::start, Unit::kNs, "Start, since the session start."},
      Column{"end", &Row::end, Unit::kNs, "End, since the session start."},
      Column{"deviceId", &Row::device_id, Unit::kId, "Device ID."},
      Column{"contextId", &Row::context_id, Unit::kId, "Context ID."},
      Column{"streamId", &Row::stream_id, Unit::kId, "Stream ID."},
      Column{"correlationId", &Row::correlation_id, Unit::kId,
             "Same as that of the API call that caused it."},
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
      Column{"demangledName", &Row::demangled_name, Unit::kNone,
             "Function name with template arguments."},
      Column{"shortName", &Row::short_name, Unit::kNone, "Base name of the function."},
      Column{"mangledName", &Row::mangled_name, Unit::kNone, "Name as the compiler made it."},
      Column{"registersPerThread", &Row::registers_per_thread, Unit::kCount,
             "Registers per thread."},
      Column{"gridX", &Row::grid_x, Unit::kCount, "Blocks in X."},
      Column{"gridY", &Row::grid_y, Unit::kCount, "Blocks in Y."},
      Column{"gridZ", &Row::grid_z, Unit::kCount, "Blocks in Z."},
      Column{"blockX", &Row::block_x, Unit::kCount, "Threads per block in X."},
      Column{"blockY", &Row::block_y, Unit::kCount, "Threads per block in Y."},
      Column{"blockZ", &Row::block_z, Unit::kCount, "Threads per block in Z."},
      Column{"staticSharedMemory", &Row::static_shared_memory, Unit::kBytes,
             "Static shared memory per block."},
      Column{"dynamicSharedMemory", &Row::dynamic_shared_memory, Unit::kBytes,
             "Dynamic shared memory per block."},
      Column{"localMemoryPerThread", &Row::local_memory_per_thread, Unit::kBytes,
             "Local memory per thread."},
      Column{"graphNodeId", &Row::graph_node_id, Unit::kId,
             "Node of the CUDA graph that launched it."},
      Column{"graphId", &Row::graph_id, Unit::kId, "CUDA graph it belongs to."},
  };
};

}  // namespace headway::trace::tables
