// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace headway::gui {

/// A word at a line across the timeline.
struct Flag {
  double x = 0;         ///< of the line
  double width = 0;     ///< of the word
  bool before = false;  ///< it stands before its line rather than behind it
};

/// The left edges of words that all stand in one line between `left` and `right`, the most important first: each on its
/// side of its line, else on the other one, moved in from the borders. None where both places are taken.
std::vector<std::optional<double>> place_flags(std::span<const Flag> flags, double left,
                                               double right);

}  // namespace headway::gui
