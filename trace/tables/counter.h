// SPDX-License-Identifier: MIT
#pragma once

#include "trace/schema/table.h"

namespace headway::trace::tables {

struct Counter : TableDefaults {
  static constexpr std::string_view name = "HEADWAY_COUNTER";
  static constexpr std::string_view doc = "Samples of the series.";

  struct Row {
    std::int64_t series_id = 0;
    std::int64_t timestamp = 0;
    double value = 0;
  };
  static constexpr auto columns = std::tuple{
      Column{"seriesId", &Row::series_id, Unit::kId, "HEADWAY_COUNTER_SERIES.id."},
      Column{"timestamp", &Row::timestamp, Unit::kNs,
             "When it was sampled, since the session start."},
      Column{"value", &Row::value, Unit::kNone,
             "Value in the unit of the series; rates are over the time since the previous sample."},
  };
};

}  // namespace headway::trace::tables
