// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct ProfilerOverhead : TableDefaults {
  static constexpr std::string_view name = "PROFILER_OVERHEAD";
  static constexpr std::string_view doc = "Time that Nsight Systems took from the program.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::optional<std::int64_t> global_tid;
    std::optional<StringId> name_id;
    std::int32_t overhead_type = 0;
  };
  static constexpr auto columns = std::tuple{
      Column{"start", &Row::start, Unit::kNs, "Start, since the session start."},
      Column{"end", &Row::end, Unit::kNs, "End, since the session start."},
      Column{"globalTid", &Row::global_tid, Unit::kId, "Thread: globalPid | tid."},
      Column{"nameId", &Row::name_id, Unit::kNone, "Kind of overhead."},
      Column{"overheadType", &Row::overhead_type, Unit::kEnum, "Kind, of the profiler's own."},
  };
};

}  // namespace headway::trace::tables
