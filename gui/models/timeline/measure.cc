// SPDX-License-Identifier: MIT
#include "gui/models/timeline/measure.h"

#include <algorithm>
#include <cmath>

namespace headway::gui {

void Measure::mark(TimeNs t) {
  if (!first_ || second_) {
    first_ = t;
    second_.reset();
  } else {
    second_ = t;
  }
}

std::optional<Interval> Measure::span(std::optional<TimeNs> pointer) const {
  std::optional<TimeNs> other = second_ ? second_ : pointer;
  if (!first_ || !other) return std::nullopt;
  return Interval{std::min(*first_, *other), std::max(*first_, *other)};
}

TimeNs snapped_to_edge(const Lane& lane, const TimeMapping& mapping, double x, double tolerance) {
  TimeNs best = mapping.time_at(x);
  double distance = tolerance;
  auto consider = [&](TimeNs edge) {
    double off = std::abs(mapping.x_of(edge) - x);
    if (off > distance) return;
    distance = off;
    best = edge;
  };
  // Entries do not overlap, so the nearest edges are those of the entry here and its neighbours.
  const std::uint32_t here = lane.overlapping({best, best + DurationNs{1}}).first;
  const std::uint32_t count = static_cast<std::uint32_t>(lane.entries());
  for (std::uint32_t i = here > 0 ? here - 1 : 0; i < std::min(count, here + 2); ++i) {
    consider(lane.interval(i).begin);
    consider(lane.interval(i).end);
  }
  return best;
}

}  // namespace headway::gui
