// SPDX-License-Identifier: MIT
#include "common/interval_set.h"

#include <algorithm>

#include "common/error.h"

namespace headway {
namespace {

/// The first interval that ends after `t`.
auto first_ending_after(std::span<const Interval> intervals, TimeNs t) {
  return std::upper_bound(intervals.begin(), intervals.end(), t,
                          [](TimeNs time, const Interval& i) { return time < i.end; });
}

}  // namespace

IntervalSet::IntervalSet(std::initializer_list<Interval> intervals)
    : IntervalSet(from_unsorted(intervals)) {}

IntervalSet IntervalSet::from_unsorted(std::vector<Interval> intervals) {
  auto by_begin = [](const Interval& a, const Interval& b) { return a.begin < b.begin; };
  if (!std::is_sorted(intervals.begin(), intervals.end(), by_begin)) {
    std::sort(intervals.begin(), intervals.end(), by_begin);
  }
  IntervalSet set;
  for (const Interval& interval : intervals) set.append(interval);
  return set;
}

void IntervalSet::append(Interval interval) {
  if (interval.empty()) return;
  if (!intervals_.empty() && interval.begin <= intervals_.back().end) {
    HEADWAY_INVARIANT(interval.begin >= intervals_.back().begin);
    intervals_.back().end = std::max(intervals_.back().end, interval.end);
    return;
  }
  intervals_.push_back(interval);
}

DurationNs IntervalSet::total() const {
  DurationNs sum;
  for (const Interval& interval : intervals_) sum += interval.length();
  return sum;
}

DurationNs IntervalSet::total_in(Interval window) const {
  DurationNs sum;
  std::span<const Interval> all = intervals_;
  for (auto it = first_ending_after(all, window.begin); it != all.end() && it->begin < window.end;
       ++it) {
    sum += headway::intersect(*it, window).length();
  }
  return sum;
}

bool IntervalSet::contains(TimeNs t) const {
  std::span<const Interval> all = intervals_;
  auto it = first_ending_after(all, t);
  return it != all.end() && it->begin <= t;
}

IntervalSet unite(const IntervalSet& a, const IntervalSet& b) {
  std::vector<Interval> merged;
  merged.reserve(a.intervals().size() + b.intervals().size());
  std::merge(a.intervals().begin(), a.intervals().end(), b.intervals().begin(), b.intervals().end(),
             std::back_inserter(merged),
             [](const Interval& x, const Interval& y) { return x.begin < y.begin; });
  return IntervalSet::from_unsorted(std::move(merged));
}

IntervalSet intersect(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet result;
  auto i = a.intervals().begin();
  auto j = b.intervals().begin();
  while (i != a.intervals().end() && j != b.intervals().end()) {
    result.append(intersect(*i, *j));
    if (i->end < j->end) {
      ++i;
    } else {
      ++j;
    }
  }
  return result;
}

IntervalSet subtract(const IntervalSet& a, const IntervalSet& b) {
  IntervalSet result;
  auto hole = b.intervals().begin();
  for (const Interval& interval : a.intervals()) {
    TimeNs begin = interval.begin;
    while (hole != b.intervals().end() && hole->end <= begin) ++hole;
    // A hole may reach into the next interval, so it is skipped only once it ends.
    for (auto h = hole; h != b.intervals().end() && h->begin < interval.end; ++h) {
      result.append({begin, h->begin});
      begin = std::max(begin, h->end);
    }
    result.append({begin, interval.end});
  }
  return result;
}

IntervalSet clip(const IntervalSet& a, Interval window) {
  return intersect(a, IntervalSet{window});
}

}  // namespace headway
