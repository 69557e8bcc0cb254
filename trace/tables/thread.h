// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Thread : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_THREAD";
  static constexpr std::string_view doc = "Threads of an imported trace, in their order.";

  struct Row {
    std::int64_t global_tid = 0;
    std::int64_t tid = 0;
    std::string_view thread_name;
  };
  static constexpr auto columns = std::tuple{
      Column{"globalTid", &Row::global_tid, Unit::kId, "Thread id, as in the other tables."},
      Column{"tid", &Row::tid, Unit::kId, "Thread ID in the recording."},
      Column{"name", &Row::thread_name, Unit::kNone, "Thread name."},
  };
};

}  // namespace headway::trace::tables
