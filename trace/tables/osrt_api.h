// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct OsrtApi : TableDefaults {
  static constexpr std::string_view name = "OSRT_API";
  static constexpr std::string_view doc = "Calls of the operating system runtime.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int32_t event_class = 27;
    std::optional<std::int64_t> global_tid;
    std::optional<std::int64_t> correlation_id;
    StringId name_id = {0};
    std::int32_t return_value = 0;
  };
  static constexpr auto columns = std::tuple{
      Column{"start", &Row::start, Unit::kNs, "Start, since the session start."},
      Column{"end", &Row::end, Unit::kNs, "End, since the session start."},
      Column{"eventClass", &Row::event_class, Unit::kEnum, "ENUM_NSYS_EVENT_CLASS: 27."},
      Column{"globalTid", &Row::global_tid, Unit::kId, "Thread: globalPid | tid."},
      Column{"correlationId", &Row::correlation_id, Unit::kId,
             "Same as that of the API call that caused it."},
      Column{"nameId", &Row::name_id, Unit::kNone, "Function name."},
      Column{"returnValue", &Row::return_value, Unit::kNone, "Value the call returned."},
  };
};

}  // namespace headway::trace::tables
