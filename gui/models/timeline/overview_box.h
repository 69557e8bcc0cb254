// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "gui/models/timeline/time_mapping.h"

namespace headway::gui {

/// The box in the overview (a strip of the whole trace) that marks the visible time range.
struct OverviewBox {
  int from = 0;  ///< first pixel
  int to = 0;    ///< one past the last pixel; at least 3 pixels wide, to stay visible

  bool operator==(const OverviewBox&) const = default;
};

/// The part of the overview that a mouse press grabs. As in other profilers: the box moves with the
/// pointer and never jumps to it, its edges resize the visible range, and a drag beside the box
/// selects a new range.
enum class OverviewGrip : std::uint8_t { kBox, kBegin, kEnd, kBeside };

/// `whole`: the mapping of the overview.
OverviewBox overview_box(const TimeMapping& whole, Interval visible);
/// `x`: in pixels of the overview. A box that is too narrow for two edges is kBox as a whole, with
/// a margin. When the whole trace is visible there is nothing to move: the result is kBeside.
OverviewGrip overview_grip(const OverviewBox& box, int width, int x);

}  // namespace headway::gui
