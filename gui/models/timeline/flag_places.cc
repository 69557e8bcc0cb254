// SPDX-License-Identifier: MIT
#include "gui/models/timeline/flag_places.h"

#include <algorithm>

namespace headway::gui {

std::vector<std::optional<double>> place_flags(std::span<const Flag> flags, double left,
                                               double right) {
  std::vector<std::optional<double>> places;
  const auto is_free = [&](double at, double width) {
    for (std::size_t i = 0; i < places.size(); ++i)
      if (places[i] && at < *places[i] + flags[i].width && *places[i] < at + width) return false;
    return true;
  };
  for (const Flag& flag : flags) {
    std::optional<double> place;
    for (const bool before : {flag.before, !flag.before}) {
      const double at =
          std::max(left, std::min(before ? flag.x - flag.width : flag.x, right - flag.width));
      if (!is_free(at, flag.width)) continue;
      place = at;
      break;
    }
    places.push_back(place);
  }
  return places;
}

}  // namespace headway::gui
