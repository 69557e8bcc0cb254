// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Process : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_PROCESS";
  static constexpr std::string_view doc = "Life and end of each recorded process.";

  struct Row {
    std::int64_t global_pid = 0;
    std::optional<std::int64_t> parent_pid;
    std::optional<std::string_view> command_line;
    std::int64_t start = 0;
    std::optional<std::int64_t> end;
    std::optional<std::int64_t> exit_code;
    std::optional<std::int64_t> signal;
    std::int32_t injected = 0;
    std::int64_t records = 0;
    std::optional<std::int64_t> pid = {};
    std::optional<std::int64_t> rank = {};
  };
  static constexpr auto columns = std::tuple{
      Column{"globalPid", &Row::global_pid, Unit::kId,
             "Process: host and VM bits << 48 | pid << 24."},
      Column{"parentPid", &Row::parent_pid, Unit::kId, "Process ID of the parent."},
      Column{"commandLine", &Row::command_line, Unit::kNone, "Arguments, joined by spaces."},
      Column{"start", &Row::start, Unit::kNs, "Start, since the session start."},
      Column{"end", &Row::end, Unit::kNs,
             "End, since the session start. NULL: still open when the recording ended."},
      Column{"exitCode", &Row::exit_code, Unit::kNone,
             "Exit code, when it exited and the recorder saw it."},
      Column{"signal", &Row::signal, Unit::kNone, "Signal that ended it."},
      Column{"injected", &Row::injected, Unit::kEnum,
             "1: our library was loaded in it; 0: only seen from outside."},
      Column{"records", &Row::records, Unit::kCount, "Records taken from it."},
      Column{"pid", &Row::pid, Unit::kId, "Process ID, where it is not that of globalPid."},
      Column{"rank", &Row::rank, Unit::kId, "Rank in the distributed run; NULL: 0, or not one."},
  };
};

}  // namespace headway::trace::tables
