// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct CudaEvent : TableDefaults {
  static constexpr std::string_view name = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
  static constexpr std::string_view doc = "Records of CUDA events.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::optional<std::int64_t> timestamp;
    std::int32_t device_id = 0;
    std::int32_t context_id = 0;
    std::int32_t stream_id = 0;
    std::optional<std::int64_t> correlation_id;
    std::optional<std::int64_t> global_pid;
    std::int64_t event_id = 0;
    std::optional<std::int64_t> event_sync_id;
  };
  static constexpr auto columns = std::tuple{
      Column{"timestamp", &Row::timestamp, Unit::kNs,
             "When the device passed it; NULL or 0: not collected."},
      Column{"deviceId", &Row::device_id, Unit::kId, "Device ID."},
      Column{"contextId", &Row::context_id, Unit::kId, "Context ID."},
      Column{"streamId", &Row::stream_id, Unit::kId, "Stream ID."},
      Column{"correlationId", &Row::correlation_id, Unit::kId,
             "Same as that of the API call that caused it."},
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
      Column{"eventId", &Row::event_id, Unit::kId, "Event."},
      Column{"eventSyncId", &Row::event_sync_id, Unit::kId, "Joins a wait to this record."},
  };
};

}  // namespace headway::trace::tables
