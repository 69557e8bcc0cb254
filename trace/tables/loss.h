// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Loss : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_LOSS";
  static constexpr std::string_view doc =
      "Counts of lost or discarded data. Counters are listed in docs/reference/losses.md.";

  struct Row {
    std::string_view counter;
    std::string_view severity;
    std::int64_t count = 0;
    std::optional<std::int64_t> global_pid;
    std::string_view text;
  };
  static constexpr auto columns = std::tuple{
      Column{"name", &Row::counter, Unit::kNone, "Counter."},
      Column{"severity", &Row::severity, Unit::kEnum,
             "info: no effect on figures; doubt: figures may be off; loss: data is missing."},
      Column{"count", &Row::count, Unit::kCount, "Number of losses."},
      Column{"globalPid", &Row::global_pid, Unit::kId, "Process, where it belongs to one."},
      Column{"text", &Row::text, Unit::kNone, "Meaning, in a sentence."},
  };
};

}  // namespace headway::trace::tables
