// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Device : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_DEVICE";
  static constexpr std::string_view doc = "Devices that are not seen through CUPTI.";

  struct Row {
    std::int64_t global_pid = 0;
    std::int32_t device_id = 0;
    std::int32_t type = 0;
    std::int32_t cores = 0;
    std::string_view device_name;
  };
  static constexpr auto columns = std::tuple{
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
      Column{"deviceId", &Row::device_id, Unit::kId, "Device ID."},
      Column{"type", &Row::type, Unit::kEnum, "1 CUDA, 2 host, 3 simulated."},
      Column{"cores", &Row::cores, Unit::kCount, "Threads or multiprocessors that share one op."},
      Column{"name", &Row::device_name, Unit::kNone, "Device name."},
  };
};

}  // namespace headway::trace::tables
