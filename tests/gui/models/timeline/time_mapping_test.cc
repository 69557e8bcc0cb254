// SPDX-License-Identifier: MIT
#include "gui/models/timeline/time_mapping.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/property.h"

namespace headway::gui {
namespace {

constexpr Interval kTrace{{1'000'000'000}, {61'000'000'000}};

}  // namespace

TEST_CASE("the mapping shows the range it was made for") {
  TimeMapping mapping(kTrace, 1000);
  CHECK(mapping.x_of(kTrace.begin) == 0);
  CHECK(mapping.x_of(kTrace.end) == doctest::Approx(1000));
  CHECK(mapping.time_at(500) == TimeNs{31'000'000'000});
  CHECK(mapping.visible() == kTrace);
}

TEST_CASE("zooming keeps the time under the cursor, whatever came before") {
  test::check_property("zoom", [](unsigned seed) {
    TimeMapping mapping(kTrace, 1500);
    for (int i = 0; i < 12; ++i) {
      seed = seed * 1664525u + 1013904223u;
      double x = seed % 1500;
      double factor = (seed >> 12) % 3 ? 1.7 : 0.6;
      double scale = mapping.ns_per_pixel();
      TimeNs before = mapping.time_at(x);
      TimeMapping zoomed = mapping.zoomed(factor, x, kTrace);
      Interval middle = zoomed.visible();
      bool clamped = middle.begin.ns + middle.length().ns / 2 <= kTrace.begin.ns + 2 ||
                     middle.begin.ns + middle.length().ns / 2 >= kTrace.end.ns - 2;
      if (!clamped) {
        double off = std::abs(static_cast<double>((zoomed.time_at(x) - before).ns));
        RC_ASSERT(off <= 1 + 1e-6 * scale);
      }
      mapping = zoomed;
    }
  });
}

TEST_CASE("time to pixel and back is exact to the nanosecond, even late in a long trace") {
  // Thirty days after the start, at 100 pixels a nanosecond: doubles from the start would be off.
  const std::int64_t late = std::int64_t{30} * 86400 * 1'000'000'000 + 123;
  for (std::int64_t length : {10ll, 1000ll, 1'000'000ll, 3'600'000'000'000ll}) {
    TimeMapping mapping({{late}, {late + length}}, 1000);
    for (int i = 0; i <= 10; ++i) {
      TimeNs t{late + length * i / 10};
      CHECK(std::abs((mapping.time_at(mapping.x_of(t)) - t).ns) <= 1);
    }
  }
}

TEST_CASE("columns partition time: each time is in the column whose edges hold it") {
  test::check_property("columns", [](unsigned seed) {
    std::int64_t begin = static_cast<std::int64_t>(seed) * 1'000'003;
    std::int64_t length = 1 + seed % 100'000;
    TimeMapping mapping = TimeMapping({{begin}, {begin + length}}, 77)
                              .zoomed(1.37, 33.3, {{begin}, {begin + length}});
    ColumnGrid grid(mapping);
    for (std::int64_t i = -5; i < 200; ++i) {
      TimeNs t{begin + length * i / 190};
      int column = grid.column_of(t);
      RC_ASSERT(column >= -1);
      RC_ASSERT(column <= grid.width());
      if (column >= 0) RC_ASSERT(grid.edge(column) <= grid.relative(t));
      if (column < grid.width()) RC_ASSERT(grid.relative(t) < grid.edge(column + 1));
      int last = grid.last_column_before(t);
      if (last >= 0) RC_ASSERT(grid.edge(last) < grid.relative(t));
      if (last < grid.width()) RC_ASSERT(grid.relative(t) <= grid.edge(last + 1));
    }
    for (int x = 0; x <= grid.width(); ++x) RC_ASSERT(grid.column_of(grid.first_time(x)) >= x);
  });
}

TEST_CASE("panning and zooming never lose the trace from the middle of the view") {
  TimeMapping mapping(kTrace, 800);
  mapping = mapping.panned(1e9, kTrace);
  CHECK(mapping.time_at(400) <= kTrace.end);
  mapping = mapping.panned(-1e12, kTrace);
  CHECK(mapping.time_at(400) >= kTrace.begin);
  for (int i = 0; i < 200; ++i) mapping = mapping.zoomed(0.5, 3, kTrace);
  CHECK(mapping.ns_per_pixel() * mapping.width() <= 1.2 * kTrace.length().ns);
  for (int i = 0; i < 200; ++i) mapping = mapping.zoomed(2, 3, kTrace);
  CHECK(mapping.ns_per_pixel() == TimeMapping::kMinNsPerPixel);
}

TEST_CASE("an empty range and no width give a usable mapping") {
  TimeMapping mapping({{5}, {5}}, 0);
  CHECK(mapping.width() == 1);
  CHECK(mapping.ns_per_pixel() > 0);
  CHECK(!mapping.visible().empty());
  CHECK(ColumnGrid(mapping).column_of({5}) == 0);
}

TEST_CASE("the ends of what the loader admits do not overflow") {
  const std::int64_t ten_years = std::int64_t{10} * 365 * 24 * 3600 * 1'000'000'000;
  Interval all{{-ten_years}, {ten_years}};
  TimeMapping mapping(all, 1920);
  ColumnGrid grid(mapping);
  CHECK(grid.column_of(all.begin) == 0);
  CHECK(grid.column_of(all.end) >= 1919);
  mapping = mapping.zoomed(1e12, 0, all).panned(-50, all);
  CHECK(mapping.visible().begin.ns < 0);
}

}  // namespace headway::gui
