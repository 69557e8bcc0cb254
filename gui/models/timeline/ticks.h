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
    std::string label;  ///< of major ticks
  };
  std::vector<Tick> ticks;
  /// What the labels count from when they would be too long otherwise: "12.345 s"; else empty.
  std::string base;
};

/// Ticks at round times with at least `label_pixels` between labels, in a unit that fits the zoom.
Ticks make_ticks(const TimeMapping& mapping, int label_pixels);

/// A point in time with as many digits as `resolution` can tell apart: "12.345 678 s".
std::string format_time(TimeNs time, DurationNs resolution);

/// Reads "1.5s..1500ms": two times with unit (ns, us, µs, ms, s; without: s). Throws
/// Error(kUsage) that names what was expected.
Interval parse_range(std::string_view text);

}  // namespace headway::gui
