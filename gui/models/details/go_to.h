// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// The place that a user typed.
struct Destination {
  Interval interval;  ///< begin == end: a point in time
  Target target;      ///< target to select; none for times
};

/// Parses a place: a time ("12.5s", "300 ms", "1.2s..1.5s"), a time relative to `here` ("+3ms",
/// "-200us"), a step by its number ("step 7", "#7"), a share of the trace ("50%"), "start" or
/// "end". Units ns, us, µs, ms, s, min; without a unit: s. Throws Error(kUsage) that says what was
/// expected, or how long the trace is.
Destination parse_destination(const TimelineModel& model, std::string_view text, TimeNs here);

}  // namespace headway::gui
