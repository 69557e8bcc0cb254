// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Overhead : TableDefaults {
  static constexpr std::string_view name = "CUPTI_ACTIVITY_KIND_OVERHEAD";
  static constexpr std::string_view doc = "Time that CUDA or the profiler took from the program.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int32_t event_class = 0;
    std::optional<std::int64_t> global_tid;
    std::optional<std::int64_t> correlation_id;
    std::optional<StringId> name_id;
    std::int32_t overhead_type = 0;
  };
  static constexpr auto columns = std::tuple{
      Column{"start", &Row::start, Unit::kNs, "Start, since the session start."},
      Column{"end", &Row::end, Unit::kNs, "End, since the session start."},
      Column{"eventClass", &Row::event_class, Unit::kEnum, "ENUM_NSYS_EVENT_CLASS: 103."},
      Column{"globalTid", &Row::global_tid, Unit::kId, "Thread: globalPid | tid."},
      Column{"correlationId", &Row::correlation_id, Unit::kId,
             "Same as that of the API call that caused it."},
      Column{"nameId", &Row::name_id, Unit::kNone, "Function name."},
      Column{"overheadType", &Row::overhead_type, Unit::kEnum,
             "2 JIT compiler, 3 buffer flush, 4 instrumentation, 5 resource, 6 module loading, 7 "
             "lazy function loading, 8 command buffer full."},
  };
};

}  // namespace headway::trace::tables
