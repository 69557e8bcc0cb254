// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Memset : TableDefaults {
  static constexpr std::string_view name = "CUPTI_ACTIVITY_KIND_MEMSET";
  static constexpr std::string_view doc = "Memory sets made by CUDA devices.";
  static constexpr bool of_nsys = true;
  static constexpr std::array<std::string_view, 1> indexes = {"start"};

  struct Row {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int32_t device_id = 0;
    std::int32_t context_id = 0;
    std::int32_t stream_id = 0;
    std::optional<std::int64_t> correlation_id;
    std::optional<std::int64_t> global_pid;
    std::int64_t value = 0;
    std::int64_t bytes = 0;
    std::optional<std::int64_t> graph_node_id;
    std::optional<std::int64_t> mem_kind;
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
      Column{"value", &Row::value, Unit::kNone, "Value written."},
      Column{"bytes", &Row::bytes, Unit::kBytes, "Bytes set."},
      Column{"graphNodeId", &Row::graph_node_id, Unit::kId,
             "Node of the CUDA graph that launched it."},
      Column{"memKind", &Row::mem_kind, Unit::kEnum, "Memory kind, as MEMCPY.srcKind."},
  };
};

}  // namespace headway::trace::tables
