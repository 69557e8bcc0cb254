// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gui/models/timeline/lane.h"

namespace headway::gui {

/// Maximum number of lanes of a row. Events that nest or overlap more deeply share one additional
/// lane, where overlapping events are drawn as merged. Nothing is left out, and a hostile trace
/// cannot create a million lanes.
inline constexpr std::size_t kMaxLanes = 128;

/// Distributes events over as few lanes as needed so that those of a lane do not overlap, each on
/// its wanted lane or the first free one below. `events` are indexable ids in order of start;
/// `interval`, `lane` and `color` return the properties of one of them. The returned lanes are
/// finished; empty lanes are left out.
template <class Events, class IntervalOf, class LaneOf, class ColorOf>
std::vector<Lane> pack_lanes(const Events& events, IntervalOf interval, LaneOf lane,
                             ColorOf color) {
  std::vector<TimeNs> free_from(kMaxLanes, TimeNs::min());
  std::vector<std::uint8_t> place;
  place.reserve(events.size());
  std::vector<std::size_t> sizes(kMaxLanes + 1, 0);
  for (auto event : events) {
    Interval when = interval(event);
    std::size_t at = std::min<std::size_t>(lane(event), kMaxLanes);
    while (at < kMaxLanes && free_from[at] > when.begin) ++at;
    if (at < kMaxLanes) free_from[at] = std::max(when.begin, when.end);
    place.push_back(static_cast<std::uint8_t>(at));
    ++sizes[at];
  }
  std::vector<Lane> lanes(kMaxLanes + 1);
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i].reserve(sizes[i]);
  for (std::size_t i = 0; i < place.size(); ++i) {
    auto event = events[i];
    if (place[i] == kMaxLanes) {
      lanes[place[i]].append_overlapping(interval(event), event.value, color(event));
    } else {
      lanes[place[i]].append(interval(event), event.value, color(event));
    }
  }
  std::erase_if(lanes, [](const Lane& one) { return one.entries() == 0; });
  for (Lane& one : lanes) one.finish();
  return lanes;
}

}  // namespace headway::gui
