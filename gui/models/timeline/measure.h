// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "gui/models/timeline/lane.h"
#include "gui/models/timeline/time_mapping.h"

namespace headway::gui {

/// Two time marks, to measure the time between them.
class Measure {
 public:
  /// Sets the first mark, then the second, then starts over with the first.
  void mark(TimeNs t);
  void clear() { first_ = second_ = std::nullopt; }

  std::optional<TimeNs> first() const { return first_; }
  std::optional<TimeNs> second() const { return second_; }
  /// From the earlier to the later mark, or to `pointer` while only one is set; none without marks.
  std::optional<Interval> span(std::optional<TimeNs> pointer = {}) const;
  explicit operator bool() const { return first_.has_value(); }

 private:
  std::optional<TimeNs> first_;
  std::optional<TimeNs> second_;
};

/// The start or end of an event of the lane that is nearest to `x`, if within `tolerance` pixels;
/// else the time at `x`.
TimeNs snapped_to_edge(const Lane& lane, const TimeMapping& mapping, double x, double tolerance);

}  // namespace headway::gui
