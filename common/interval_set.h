// SPDX-License-Identifier: MIT
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "common/time.h"

namespace headway {

/// A set of points in time, kept as sorted, disjoint, non-touching half-open intervals. Sums over
/// it count overlapping events once ("union before sum"). Set operations are linear in the number
/// of intervals of both operands.
class IntervalSet {
 public:
  IntervalSet() = default;
  IntervalSet(std::initializer_list<Interval> intervals);

  /// From intervals in any order, overlapping or not; empty ones are dropped. O(n log n), or O(n)
  /// when sorted by begin.
  static IntervalSet from_unsorted(std::vector<Interval> intervals);

  /// Adds an interval whose begin is not before the begin of any interval added so far. Amortised
  /// O(1).
  void append(Interval interval);

  std::span<const Interval> intervals() const { return intervals_; }
  bool empty() const { return intervals_.empty(); }
  /// The total length of all intervals.
  DurationNs total() const;
  /// The length of the part of the set inside `window`. O(log n + intervals touched).
  DurationNs total_in(Interval window) const;
  bool contains(TimeNs t) const;

  bool operator==(const IntervalSet&) const = default;

 private:
  std::vector<Interval> intervals_;
};

IntervalSet unite(const IntervalSet& a, const IntervalSet& b);
IntervalSet intersect(const IntervalSet& a, const IntervalSet& b);
/// The points of `a` that are not in `b`.
IntervalSet subtract(const IntervalSet& a, const IntervalSet& b);
/// The points of `a` inside `window`.
IntervalSet clip(const IntervalSet& a, Interval window);

}  // namespace headway
