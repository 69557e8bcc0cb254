// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct DeviceCall : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_DEVICE_CALL";
  static constexpr std::string_view doc =
      "Host calls to devices that are not CUDA, from headway.device_call payloads.";
  static constexpr std::array<std::string_view, 1> indexes = {"start"};

  struct Row {
    std::int64_t start = 0;
    std::optional<std::int64_t> end;
    std::int64_t global_tid = 0;
    std::int32_t kind = 0;
    std::int32_t device_id = 0;
    std::int32_t stream_id = 0;
    std::optional<std::int64_t> correlation_id;
    std::optional<std::int64_t> sync_id;
    StringId name_id = {0};
    std::int64_t bytes = 0;
  };
  static constexpr auto columns = std::tuple{
      Column{"start", &Row::start, Unit::kNs, "Start, since the session start."},
      Column{"end", &Row::end, Unit::kNs,
             "End, since the session start. NULL: still open when the recording ended."},
      Column{"globalTid", &Row::global_tid, Unit::kId, "Thread: globalPid | tid."},
      Column{"kind", &Row::kind, Unit::kEnum,
             "1 launch, 2 copy, 3 blocking copy, 4 memset, 5 event record, 6 stream waits for "
             "event, 7 event synchronize, 8 stream synchronize, 9 device synchronize, 10 allocate, "
             "11 free, 12 graph launch, 0 other."},
      Column{"deviceId", &Row::device_id, Unit::kId, "Device ID."},
      Column{"streamId", &Row::stream_id, Unit::kId, "Stream ID."},
      Column{"correlationId", &Row::correlation_id, Unit::kId,
             "Same as that of the op it enqueued."},
      Column{"syncId", &Row::sync_id, Unit::kId, "Event record made or waited for."},
      Column{"nameId", &Row::name_id, Unit::kNone, "Name."},
      Column{"bytes", &Row::bytes, Unit::kBytes, "Bytes copied or allocated."},
  };
};

}  // namespace headway::trace::tables
