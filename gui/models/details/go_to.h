// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

#include "gui/models/timeline/timeline_model.h"

namespace headway::gui {

/// Where a typed place is.
struct Destination {
  Interval interval;  ///< begin == end: a point in time
  Target target;      ///< to select; none for times
};

/// Reads a place: a time ("12.5s", "300 ms", "1.2s..1.5s"), one from `here` on ("+3ms", "-200us"), a
/// step by its number ("step 7", "#7"), a share of the trace ("50%"), "start" or "end". Units ns, us,
/// µs, ms, s, min; without: s. Throws Error(kUsage) that tells what was expected, or how far the
/// trace goes.
Destination parse_destination(const TimelineModel& model, std::string_view text, TimeNs here);

}  // namespace headway::gui
