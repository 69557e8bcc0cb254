// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Stream : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_STREAM";
  static constexpr std::string_view doc =
      "Streams that have a name, or that an import keeps in order.";

  struct Row {
    std::int64_t global_pid = 0;
    std::int32_t device_id = 0;
    std::int32_t stream_id = 0;
    std::string_view stream_name;
    std::optional<std::int64_t> device_type = {};
  };
  static constexpr auto columns = std::tuple{
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
      Column{"deviceId", &Row::device_id, Unit::kId, "Device ID."},
      Column{"streamId", &Row::stream_id, Unit::kId, "Stream ID."},
      Column{"name", &Row::stream_name, Unit::kNone, "Stream name."},
      Column{"deviceType", &Row::device_type, Unit::kEnum,
             "1: deviceId is a CUDA device; NULL: it is one of HEADWAY_DEVICE."},
  };
};

}  // namespace headway::trace::tables
