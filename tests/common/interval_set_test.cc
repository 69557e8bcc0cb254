// SPDX-License-Identifier: MIT
#include "common/interval_set.h"

#include <doctest/doctest.h>

#include <bitset>

#include "tests/support/property.h"

namespace headway {
namespace {

// The model: a set of integer points in [0, kPoints), against which the interval algebra is
// checked.
constexpr int kPoints = 64;
using Points = std::bitset<kPoints>;

Interval make(int begin, int end) {
  return {{begin}, {end}};
}

std::vector<Interval> any_intervals() {
  std::vector<Interval> intervals;
  int count = *rc::gen::inRange(0, 12);
  for (int i = 0; i < count; ++i) {
    int begin = *rc::gen::inRange(0, kPoints);
    int end = *rc::gen::inRange(0, kPoints + 1);  // may be empty or inverted
    intervals.push_back(make(begin, end));
  }
  return intervals;
}

Points points_of(const std::vector<Interval>& intervals) {
  Points points;
  for (const Interval& interval : intervals) {
    for (std::int64_t p = interval.begin.ns; p < interval.end.ns; ++p)
      points.set(static_cast<std::size_t>(p));
  }
  return points;
}

Points points_of(const IntervalSet& set) {
  return points_of(std::vector<Interval>(set.intervals().begin(), set.intervals().end()));
}

bool is_canonical(const IntervalSet& set) {
  TimeNs last = TimeNs::min();
  for (const Interval& interval : set.intervals()) {
    if (interval.empty() || interval.begin <= last) return false;
    last = interval.end;
  }
  return true;
}

}  // namespace

TEST_CASE("set operations agree with sets of points and stay canonical") {
  test::check_property("algebra", [] {
    std::vector<Interval> a = any_intervals();
    std::vector<Interval> b = any_intervals();
    IntervalSet set_a = IntervalSet::from_unsorted(a);
    IntervalSet set_b = IntervalSet::from_unsorted(b);
    Points points_a = points_of(a);
    Points points_b = points_of(b);
    RC_ASSERT(points_of(set_a) == points_a);
    for (const auto& [set, points] : {std::pair(unite(set_a, set_b), points_a | points_b),
                                      std::pair(intersect(set_a, set_b), points_a & points_b),
                                      std::pair(subtract(set_a, set_b), points_a & ~points_b)}) {
      RC_ASSERT(is_canonical(set));
      RC_ASSERT(points_of(set) == points);
      RC_ASSERT(set.total().ns == static_cast<std::int64_t>(points.count()));
    }
  });
}

TEST_CASE("the measure inside a window equals the measure of the clipped set") {
  test::check_property("window", [] {
    IntervalSet set = IntervalSet::from_unsorted(any_intervals());
    Interval window = make(*rc::gen::inRange(0, kPoints), *rc::gen::inRange(0, kPoints + 1));
    RC_ASSERT(set.total_in(window) == clip(set, window).total());
    TimeNs t{*rc::gen::inRange(0, kPoints)};
    RC_ASSERT(set.contains(t) == points_of(set).test(static_cast<std::size_t>(t.ns)));
  });
}

TEST_CASE("touching intervals join and empty ones vanish") {
  IntervalSet set{make(5, 7), make(1, 3), make(3, 5), make(9, 9), make(12, 10)};
  REQUIRE(set.intervals().size() == 1);
  CHECK(set.intervals()[0] == make(1, 7));
  CHECK(IntervalSet{}.total().ns == 0);
}

TEST_CASE("times at the ends of int64 are handled without overflow") {
  Interval first{TimeNs::min(), {0}};
  Interval last{{0}, TimeNs::max()};
  IntervalSet set{first, last};
  CHECK(set.intervals().size() == 1);
  CHECK(set.contains({0}));
  CHECK(subtract(set, IntervalSet{last}) == IntervalSet{first});
}

}  // namespace headway
