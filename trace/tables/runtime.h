// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Runtime : TableDefaults {
  static constexpr std::string_view name = "CUPTI_ACTIVITY_KIND_RUNTIME";
  static constexpr std::string_view doc = "Calls of the CUDA runtime and driver API.";
  static constexpr bool of_nsys = true;
  static constexpr std::array<std::string_view, 2> indexes = {"start", "correlationId"};

  struct Row {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int32_t event_class = 0;
    std::optional<std::int64_t> global_tid;
    std::optional<std::int64_t> correlation_id;
    StringId name_id = {0};
    std::int32_t return_value = 0;
  };
  static constexpr auto columns = std::tuple{
      Column{"start", &Row::start, Unit::kNs, "Start, since the session start."},
      Column{"end", &Row::end, Unit::kNs, "End, since the session start."},
      Column{"eventClass", &Row::event_class, Unit::kEnum, "0 runtime, 1 driver."},
      Column{"globalTid", &Row::global_tid, Unit::kId, "Thread: globalPid | tid."},
      Column{"correlationId", &Row::correlation_id, Unit::kId,
             "Same as that of the API call that caused it."},
      Column{"nameId", &Row::name_id, Unit::kNone, "Function name."},
      Column{"returnValue", &Row::return_value, Unit::kNone, "Status the call returned."},
  };
};

}  // namespace headway::trace::tables
