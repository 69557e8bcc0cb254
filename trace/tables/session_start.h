// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct SessionStart : TableDefaults {
  static constexpr std::string_view name = "TARGET_INFO_SESSION_START_TIME";
  static constexpr std::string_view doc = "Time zero of the file on the wall clock.";
  static constexpr bool of_nsys = true;

  struct Row {
    std::optional<std::int64_t> utc_epoch_ns;
    std::optional<std::string_view> utc_time;
    std::optional<std::string_view> local_time;
    std::optional<std::int64_t> system_clock_ns;
  };
  static constexpr auto columns = std::tuple{
      Column{"utcEpochNs", &Row::utc_epoch_ns, Unit::kNs,
             "CLOCK_REALTIME at time zero, since 1970."},
      Column{"utcTime", &Row::utc_time, Unit::kNone, "The same as ISO 8601, UTC."},
      Column{"localTime", &Row::local_time, Unit::kNone, "The same in local time."},
      Column{"systemClockNs", &Row::system_clock_ns, Unit::kNs, "CLOCK_MONOTONIC at time zero."},
  };
};

}  // namespace headway::trace::tables
