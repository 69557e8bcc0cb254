// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Synchronization : TableDefaults {
  static constexpr std::string_view name = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
  static constexpr std::string_view doc = "Host waits and stream waits of CUDA.";
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
    std::int32_t sync_type = 0;
    std::int64_t event_id = 0;
    std::optional<std::int64_t> event_sync_id;
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
      Column{"syncType", &Row::sync_type, Unit::kEnum,
             "1 event, 2 stream waits for event, 3 stream, 4 context."},
      Column{"eventId", &Row::event_id, Unit::kId, "Event, where there is one."},
      Column{"eventSyncId", &Row::event_sync_id, Unit::kId,
             "Joins a wait to the event record it waits for."},
  };
};

}  // namespace headway::trace::tables
