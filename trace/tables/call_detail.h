// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct CallDetail : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_CALL_DETAIL";
  static constexpr std::string_view doc =
      "What an imported recording says of a CUDA call and CUPTI has no column for.";

  struct Row {
    std::int64_t call_row = 0;
    std::int64_t kind = 0;
    std::optional<std::int64_t> device_type = {};
    std::optional<std::int64_t> stream_pid = {};
    std::int64_t device_id = 0;
    std::int64_t stream_id = 0;
    std::int64_t sync_id = 0;
    std::int64_t bytes = 0;
  };
  static constexpr auto columns = std::tuple{
      Column{"callRow", &Row::call_row, Unit::kId, "rowid in CUPTI_ACTIVITY_KIND_RUNTIME."},
      Column{"kind", &Row::kind, Unit::kEnum, "As HEADWAY_DEVICE_CALL.kind."},
      Column{"deviceType", &Row::device_type, Unit::kEnum,
             "1: deviceId is a CUDA device, 0: one of HEADWAY_DEVICE; NULL: the call names no "
             "stream."},
      Column{"streamPid", &Row::stream_pid, Unit::kId, "globalPid of the stream."},
      Column{"deviceId", &Row::device_id, Unit::kId, "Device ID."},
      Column{"streamId", &Row::stream_id, Unit::kId, "Stream ID."},
      Column{"syncId", &Row::sync_id, Unit::kId, "Event record made or waited for; 0: none."},
      Column{"bytes", &Row::bytes, Unit::kBytes, "Bytes copied or allocated."},
  };
};

}  // namespace headway::trace::tables
