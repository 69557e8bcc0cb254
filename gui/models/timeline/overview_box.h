// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "gui/models/timeline/time_mapping.h"

namespace headway::gui {

/// The box that shows in the overview, a strip of the whole trace, what is in view.
struct OverviewBox {
  int from = 0;  ///< first pixel
  int to = 0;    ///< one past the last; at least 3 pixels wide, or it could not be seen

  bool operator==(const OverviewBox&) const = default;
};

/// What a press of the mouse takes hold of. As in the overviews of browsers' and other profilers: the box
/// moves with the pointer and never jumps under it, its edges change what is in view, and beside the
/// box a stretch is drawn anew.
enum class OverviewGrip : std::uint8_t { kBox, kBegin, kEnd, kBeside };

/// `whole`: of the overview.
OverviewBox overview_box(const TimeMapping& whole, Interval visible);
/// `x`: in pixels of the overview. Of a box that is too narrow for two edges all is the box, with a
/// margin. With the whole trace in view there is nothing to move: a stretch is drawn.
OverviewGrip overview_grip(const OverviewBox& box, int width, int x);

}  // namespace headway::gui
