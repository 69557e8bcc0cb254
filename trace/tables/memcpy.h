// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Memcpy : TableDefaults {
  static constexpr std::string_view name = "CUPTI_ACTIVITY_KIND_MEMCPY";
  static constexpr std::string_view doc = "Copies made by CUDA devices.";
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
    std::int64_t bytes = 0;
    std::int32_t copy_kind = 0;
    std::optional<std::int64_t> src_kind;
    std::optional<std::int64_t> dst_kind;
    std::optional<std::int64_t> src_device_id;
    std::optional<std::int64_t> dst_device_id;
    std::optional<std::int64_t> graph_node_id;
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
      Column{"bytes", &Row::bytes, Unit::kBytes, "Bytes copied."},
      Column{"copyKind", &Row::copy_kind, Unit::kEnum,
             "CUpti_ActivityMemcpyKind: 1 HtoD, 2 DtoH, 8 DtoD, 9 HtoH, 10 peer."},
      Column{"srcKind", &Row::src_kind, Unit::kEnum,
             "Source memory: 0 pageable, 1 pinned, 2 device, 3 array, 4 managed."},
      Column{"dstKind", &Row::dst_kind, Unit::kEnum, "Destination memory, as srcKind."},
      Column{"srcDeviceId", &Row::src_device_id, Unit::kId, "Source device."},
      Column{"dstDeviceId", &Row::dst_device_id, Unit::kId, "Destination device."},
      Column{"graphNodeId", &Row::graph_node_id, Unit::kId,
             "Node of the CUDA graph that launched it."},
  };
};

}  // namespace headway::trace::tables
