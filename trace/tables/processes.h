// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Processes : TableDefaults {
  static constexpr std::string_view name = "PROCESSES";
  static constexpr std::string_view doc = "Processes that were recorded.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::optional<std::int64_t> global_pid;
    std::optional<std::int64_t> pid;
    std::optional<std::string_view> process_name;
  };
  static constexpr auto columns = std::tuple{
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
      Column{"pid", &Row::pid, Unit::kId, "Process ID."},
      Column{"name", &Row::process_name, Unit::kNone, "Name of the executable."},
  };
};

}  // namespace headway::trace::tables
