// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace headway::gui {

/// A label at a vertical line of the timeline.
struct Flag {
  double x = 0;         ///< x of the line
  double width = 0;     ///< width of the label
  bool before = false;  ///< preferred side: left of the line, not right
};

/// Places labels in one row between `left` and `right`, the most important first: each on its
/// preferred side of its line, else on the other side, moved inwards at the borders. Returns their
/// left edges; none where both places are taken.
std::vector<std::optional<double>> place_flags(std::span<const Flag> flags, double left,
                                               double right);

}  // namespace headway::gui
