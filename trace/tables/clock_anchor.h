// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct ClockAnchor : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_CLOCK";
  static constexpr std::string_view doc = "The clocks read together, once a second.";

  struct Row {
    std::int64_t realtime = 0;
    std::int64_t monotonic = 0;
    std::optional<std::int64_t> tsc;
  };
  static constexpr auto columns = std::tuple{
      Column{"realtime", &Row::realtime, Unit::kNs, "CLOCK_REALTIME, since the session start."},
      Column{"monotonic", &Row::monotonic, Unit::kNs, "CLOCK_MONOTONIC."},
      Column{"tsc", &Row::tsc, Unit::kCount, "Time-stamp counter of the processor."},
  };
};

}  // namespace headway::trace::tables
