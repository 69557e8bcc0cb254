// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Io : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_IO";
  static constexpr std::string_view doc =
      "Calls on regular files and block devices (`headway record --io`). Short calls on one file "
      "are summed: then `calls` is over 1 and `busy` is the time inside them.";
  static constexpr std::array<std::string_view, 1> indexes = {"start"};

  struct Row {
    std::int64_t start = 0;
    std::int64_t end = 0;
    std::int64_t global_tid = 0;
    std::int32_t op = 0;
    StringId name_id = {0};
    std::optional<StringId> path_id = {};
    std::optional<std::int64_t> fd = {};
    std::int64_t bytes = 0;
    std::int64_t calls = 1;
    std::optional<std::int64_t> busy = {};
    std::optional<std::int64_t> offset = {};
    std::optional<std::int64_t> flags = {};
    std::optional<std::int64_t> error = {};
  };
  static constexpr auto columns = std::tuple{
      Column{"start", &Row::start, Unit::kNs, "Start, since the session start."},
      Column{"end", &Row::end, Unit::kNs, "End, since the session start."},
      Column{"globalTid", &Row::global_tid, Unit::kId, "Thread: globalPid | tid."},
      Column{"op", &Row::op, Unit::kEnum, "1 open, 2 close, 3 read, 4 write, 5 sync, 6 map."},
      Column{"nameId", &Row::name_id, Unit::kNone,
             "Function that the program called; of summed calls, the last one."},
      Column{"pathId", &Row::path_id, Unit::kNone,
             "File, as the program named it or as the system knows it. A path that ends in /* "
             "stands for files of that folder. NULL: not known."},
      Column{"fd", &Row::fd, Unit::kId, "File descriptor; NULL: none."},
      Column{"bytes", &Row::bytes, Unit::kBytes, "Bytes read, written or mapped."},
      Column{"calls", &Row::calls, Unit::kCount, "Calls that the row stands for."},
      Column{"busy", &Row::busy, Unit::kNs, "Time inside the calls; NULL: from start to end."},
      Column{"offset", &Row::offset, Unit::kBytes,
             "Position in the file; NULL: where the descriptor stood."},
      Column{"flags", &Row::flags, Unit::kEnum, "open: O_* flags; map: PROT_* flags."},
      Column{"error", &Row::error, Unit::kEnum, "errno of a call that failed; NULL: it did not."},
  };
};

}  // namespace headway::trace::tables
