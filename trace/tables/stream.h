// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Stream : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_STREAM";
  static constexpr std::string_view doc = "Named streams of such devices.";

  struct Row {
    std::int64_t global_pid = 0;
    std::int32_t device_id = 0;
    std::int32_t stream_id = 0;
    std::string_view stream_name;
  };
  static constexpr auto columns = std::tuple{
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
      Column{"deviceId", &Row::device_id, Unit::kId, "Device ID."},
      Column{"streamId", &Row::stream_id, Unit::kId, "Stream ID."},
      Column{"name", &Row::stream_name, Unit::kNone, "Stream name."},
  };
};

}  // namespace headway::trace::tables
