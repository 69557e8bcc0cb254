// SPDX-License-Identifier: MIT
#include "gui/models/timeline/counter_lane.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>

#include "tests/support/property.h"

namespace headway::gui {

TEST_CASE("each column shows the least and greatest value that held in it") {
  test::check_property("counter", [](unsigned seed) {
    std::mt19937 random(seed);
    trace::CounterSeries series;
    series.unit = seed % 2 ? "bytes" : "%";
    std::int64_t t = 0;
    for (unsigned i = 0; i < 1 + random() % 300; ++i) {
      t += 1 + static_cast<std::int64_t>(random() % (i % 20 ? 10 : 500));
      series.time.push_back({t});
      series.value.push_back(static_cast<double>(random() % 1000) - 200);
    }
    CounterLane lane(series);
    ColumnGrid grid(TimeMapping({{-10}, {t + 10}}, 40));
    std::vector<CounterColumn> columns;
    lane.collect(grid, columns);
    std::size_t next = 0;
    for (int x = 0; x < grid.width(); ++x) {
      if (grid.first_time(x) == grid.first_time(x + 1)) {
        // Narrower than a nanosecond: what holds around it is drawn, so that the line has no gap.
        if (next < columns.size() && columns[next].x == x) ++next;
        continue;
      }
      double low = std::numeric_limits<double>::infinity();
      double high = -low;
      for (TimeNs at = grid.first_time(x); at < grid.first_time(x + 1); at = at + DurationNs{1}) {
        if (std::optional<double> value = lane.value_at(at)) {
          low = std::min(low, *value);
          high = std::max(high, *value);
        }
      }
      if (low > high) continue;
      RC_ASSERT(next < columns.size());
      RC_ASSERT(columns[next].x == x);
      RC_ASSERT(columns[next].low == low);
      RC_ASSERT(columns[next].high == high);
      ++next;
    }
    RC_ASSERT(next == columns.size());
  });
}

TEST_CASE("a level holds from its sample on, a rate over the time before its sample") {
  trace::CounterSeries level{"memory", "bytes", "", {}, {}, {{0}, {100}}, {1, 2}};
  CHECK(CounterLane(level).value_at({50}) == std::optional<double>(1));
  trace::CounterSeries rate{"read", "bytes/s", "", {}, {}, {{0}, {100}}, {1, 2}};
  CHECK(CounterLane(rate).value_at({50}) == std::optional<double>(2));
  CHECK(!CounterLane(rate).value_at({101}));
  CHECK(!CounterLane(rate).value_at({-1}));
}

TEST_CASE("values that are no numbers are left out and an empty series draws nothing") {
  double nan = std::numeric_limits<double>::quiet_NaN();
  double inf = std::numeric_limits<double>::infinity();
  trace::CounterSeries series{"x", "", "", {}, {}, {{0}, {1}, {2}, {3}}, {nan, 5, inf, -1}};
  CounterLane lane(series);
  CHECK(lane.high() == 5);
  CHECK(lane.low() == -1);
  trace::CounterSeries nothing;
  CounterLane empty(nothing);
  std::vector<CounterColumn> columns;
  empty.collect(ColumnGrid(TimeMapping({{0}, {10}}, 10)), columns);
  CHECK(columns.empty());
}

}  // namespace headway::gui
