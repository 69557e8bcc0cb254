// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/model/event_ref.h"
#include "trace/trace.h"

namespace headway::gui {

struct NameStatistics {
  std::int64_t count = 0;
  DurationNs total;
  DurationNs median;
};
/// Statistics of all events with the kind and name of `event`. One pass over their table.
NameStatistics statistics_of_name(const trace::Trace& trace, analyzer::EventRef event);

struct NameTotal {
  trace::StringId name;
  DurationNs total;  ///< time inside the window
  std::int64_t count = 0;
  trace::DeviceOpId longest;
};
/// The `most` names of device ops with the most time inside `window`, longest first.
std::vector<NameTotal> longest_names(const trace::Trace& trace, Interval window, std::size_t most);

/// Time of a range that is not covered by its direct children.
DurationNs own_time(const trace::Trace& trace, trace::RangeId range);

}  // namespace headway::gui
