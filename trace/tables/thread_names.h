// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct ThreadNames : TableDefaults {
  static constexpr std::string_view name = "ThreadNames";
  static constexpr std::string_view doc = "Names of threads.";
  static constexpr bool of_nsys = true;

  struct Row {
    StringId name_id = {0};
    std::optional<std::int64_t> priority;
    std::optional<std::int64_t> global_tid;
  };
  static constexpr auto columns = std::tuple{
      Column{"nameId", &Row::name_id, Unit::kNone, "Thread name."},
      Column{"priority", &Row::priority, Unit::kNone, "Scheduling priority."},
      Column{"globalTid", &Row::global_tid, Unit::kId, "Thread: globalPid | tid."},
  };
};

}  // namespace headway::trace::tables
