// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct CounterSeries : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_COUNTER_SERIES";
  static constexpr std::string_view doc = "Sampled quantities.";
  static constexpr std::string_view primary_key = "id";

  struct Row {
    std::int64_t id = 0;
    std::string_view series;
    std::string_view unit;
    std::optional<std::int64_t> global_pid;
    std::optional<std::int64_t> device_id;
    std::string_view description;
  };
  static constexpr auto columns = std::tuple{
      Column{"id", &Row::id, Unit::kId, "Series."},
      Column{"name", &Row::series, Unit::kNone, "Sampled quantity, e.g. process.cpu."},
      Column{"unit", &Row::unit, Unit::kNone, "Unit of the values: %, bytes, bytes/s, count."},
      Column{"globalPid", &Row::global_pid, Unit::kId, "Process, for series of a process."},
      Column{"deviceId", &Row::device_id, Unit::kId, "Device, for series of a device."},
      Column{"description", &Row::description, Unit::kNone, "A sentence."},
  };
};

}  // namespace headway::trace::tables
