// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/models/timeline/time_mapping.h"

namespace headway::gui {

/// The marks of a time axis.
struct Ticks {
  struct Tick {
    TimeNs time;
    bool major = false;
    std::string label;  ///< of major ticks only
  };
  std::vector<Tick> ticks;
  /// The time from which labels count if they would otherwise be too long: "12.345 s"; else empty.
  std::string base;
};

/// Ticks at round times with at least `label_pixels` between labels, in a unit that suits the zoom.
Ticks make_ticks(const TimeMapping& mapping, int label_pixels);

/// A point in time with the digits that `resolution` can distinguish: "12.345 678 s".
std::string format_time(TimeNs time, DurationNs resolution);

/// Parses "1.5s..1500ms": two times with units (ns, us, µs, ms, s; without a unit: s). Throws
/// Error(kUsage) that says what was expected.
Interval parse_range(std::string_view text);

}  // namespace headway::gui
