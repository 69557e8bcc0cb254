// SPDX-License-Identifier: MIT
#include "gui/models/timeline/lane.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

#include "gui/models/timeline/lane_packing.h"
#include "tests/support/property.h"

namespace headway::gui {
namespace {

struct Event {
  Interval when;
  ColorRole color;
};

ColorRole color_of(unsigned i) {
  return static_cast<ColorRole>(i % 5);
}

/// Events that do not overlap, with all that makes lanes hard: touching ones, points, bursts of
/// short ones, long gaps.
std::vector<Event> random_events(std::mt19937& random, int count) {
  auto pick = [&](std::initializer_list<std::int64_t> choices) {
    std::int64_t limit = *(choices.begin() + random() % choices.size());
    return limit == 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<unsigned>(limit));
  };
  std::vector<Event> events;
  std::int64_t t = pick({0, 1000, 1'000'000}) - 500;
  // Now and then seconds, which do not fit where most lengths and distances do.
  const bool slow = random() % 4 == 0;
  for (int i = 0; i < count; ++i) {
    t += slow ? pick({0, 50, 3'000'000'000}) : pick({0, 0, 0, 3, 50, 50, 5000});
    std::int64_t length =
        slow ? 2 * pick({0, 20, 300, 3'000'000'000}) : pick({0, 2, 20, 300, 20'000});
    events.push_back({{{t}, {t + length}}, color_of(static_cast<unsigned>(random()))});
    t += length;
  }
  return events;
}

Lane lane_of(const std::vector<Event>& events) {
  Lane lane;
  for (std::uint32_t i = 0; i < events.size(); ++i)
    lane.append(events[i].when, 1000 + i, events[i].color);
  lane.finish();
  return lane;
}

/// What a scan of all events says about a column.
struct Column {
  std::vector<std::uint32_t> events;
  std::map<ColorRole, double> time;
  double covered = 0;
};

double overlap(const ColumnGrid& grid, int x, const Event& event) {
  return std::max(0.0, std::min(grid.relative(event.when.end), grid.edge(x + 1)) -
                           std::max(grid.relative(event.when.begin), grid.edge(x)));
}

Column scan(const ColumnGrid& grid, int x, const std::vector<Event>& events) {
  Column column;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    double begin = grid.relative(events[i].when.begin);
    double end = grid.relative(events[i].when.end);
    bool touches = begin == end ? grid.edge(x) <= begin && begin < grid.edge(x + 1)
                                : grid.edge(x) < end && begin < grid.edge(x + 1);
    if (!touches) continue;
    column.events.push_back(i);
    column.time[events[i].color] += overlap(grid, x, events[i]);
    column.covered += overlap(grid, x, events[i]);
  }
  return column;
}

const LaneItem* item_at(const std::vector<LaneItem>& items, int x) {
  const LaneItem* found = nullptr;
  for (const LaneItem& item : items) {
    if (item.x <= x && x < item.x + item.width) {
      RC_ASSERT(!found);  // items do not overlap
      found = &item;
    }
  }
  return found;
}

void check_column(const ColumnGrid& grid, int x, const std::vector<Event>& events,
                  const LaneItem* item) {
  Column truth = scan(grid, x, events);
  if (truth.events.empty()) {
    RC_ASSERT(!item);
    return;
  }
  RC_ASSERT(item);
  if (truth.events.size() == 1) {
    RC_ASSERT(item->count == 1u);
    RC_ASSERT(item->entry == truth.events[0]);
    RC_ASSERT(item->color == events[truth.events[0]].color);
    return;
  }
  auto length = [&](std::uint32_t i) { return static_cast<double>(events[i].when.length().ns); };
  bool both_wide = truth.events.size() == 2 &&
                   length(truth.events[0]) >= 3 * grid.ns_per_column() &&
                   length(truth.events[1]) >= 3 * grid.ns_per_column();
  if (both_wide) {
    std::uint32_t larger =
        overlap(grid, x, events[truth.events[1]]) > overlap(grid, x, events[truth.events[0]])
            ? truth.events[1]
            : truth.events[0];
    RC_ASSERT(item->count == 1u);
    RC_ASSERT(item->entry == larger);
    return;
  }
  RC_ASSERT(item->width == 1);
  RC_ASSERT(item->count == truth.events.size());
  RC_ASSERT(item->entry == truth.events[0]);
  double most = 0;
  for (const auto& [color, time] : truth.time) most = std::max(most, time);
  RC_ASSERT(truth.time[item->color] >= most * (1 - 1e-9));
  RC_ASSERT(std::abs(item->fill - 255 * truth.covered / grid.ns_per_column()) <= 1);
}

}  // namespace

TEST_CASE("what each pixel column shows is what a scan of all events says, at any zoom") {
  test::check_property("lane", [](unsigned seed) {
    std::mt19937 random(seed);
    // Now and then so many that columns hold hundreds of them beside long ones.
    const int most = random() % 4 ? 400 : 6000;
    std::vector<Event> events =
        random_events(random, 1 + static_cast<int>(random() % static_cast<unsigned>(most)));
    Lane lane = lane_of(events);
    Interval all{events.front().when.begin, events.back().when.end};
    std::int64_t length = std::max<std::int64_t>(1, all.length().ns >> (random() % 16));
    std::int64_t begin = all.begin.ns +
                         static_cast<std::int64_t>(random() % 1'000'000) *
                             std::max<std::int64_t>(1, all.length().ns) / 1'000'000 -
                         length / 3;
    TimeMapping mapping({{begin}, {begin + length}}, 60);
    // A start between two nanoseconds, as zooming makes them.
    mapping = mapping.zoomed(1.1, 20.3, {{begin - length}, {begin + 2 * length}});
    ColumnGrid grid(mapping);
    std::vector<LaneItem> items;
    lane.collect(grid, 0, grid.width(), items);
    for (int x = 0; x < grid.width(); ++x) {
      const LaneItem* item = item_at(items, x);
      check_column(grid, x, events, item);
      // Asking for one column, as hovering does, gives the same answer.
      std::vector<LaneItem> one;
      lane.collect(grid, x, x + 1, one);
      RC_ASSERT(one.size() == (item ? 1u : 0u));
      if (item) {
        RC_ASSERT(one[0].entry == item->entry);
        RC_ASSERT(one[0].count == item->count);
        RC_ASSERT(one[0].color == item->color);
      }
    }
  });
}

TEST_CASE("a view that has moved shows what it would show if it were looked up anew") {
  test::check_property("moved", [](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Event> events = random_events(random, 1 + static_cast<int>(random() % 400));
    Lane lane = lane_of(events);
    Interval all{events.front().when.begin, events.back().when.end};
    std::int64_t length = std::max<std::int64_t>(60, all.length().ns >> (random() % 12));
    Interval bounds{all.begin - DurationNs{10 * length}, all.end + DurationNs{10 * length}};
    TimeMapping mapping =
        TimeMapping({all.begin, all.begin + DurationNs{length}}, 60).zoomed(1.1, 20.3, bounds);
    std::vector<LaneItem> kept;
    lane.collect(ColumnGrid(mapping), 0, 60, kept);
    for (int move = 0; move < 8; ++move) {
      ColumnGrid before(mapping);
      mapping = mapping.panned(static_cast<int>(random() % 141) - 70, bounds);
      ColumnGrid grid(mapping);
      std::optional<int> by = grid.columns_after(before);
      std::vector<LaneItem> anew;
      lane.collect(grid, 0, 60, anew);
      if (!by) {  // out of sight of what was there
        kept = anew;
        continue;
      }
      std::vector<LaneItem> moved;
      lane.collect_moved(grid, 60, kept, *by, moved);
      RC_ASSERT(moved.size() == anew.size());
      for (std::size_t i = 0; i < moved.size(); ++i) {
        RC_ASSERT(std::abs(moved[i].fill - anew[i].fill) <= 1);
        moved[i].fill = anew[i].fill;
        RC_ASSERT(moved[i] == anew[i]);
      }
      kept = moved;
    }
  });
}

TEST_CASE("no event vanishes, however far out the view is") {
  test::check_property("all events are counted", [](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Event> events = random_events(random, 1 + static_cast<int>(random() % 3000));
    Lane lane = lane_of(events);
    Interval all{events.front().when.begin, events.back().when.end + DurationNs{1}};
    ColumnGrid grid(TimeMapping(all, 1 + static_cast<int>(random() % 200)));
    std::vector<LaneItem> items;
    lane.collect(grid, 0, grid.width(), items);
    std::vector<bool> seen(events.size(), false);
    for (const LaneItem& item : items) {
      for (std::uint32_t i = item.entry; i < item.entry + item.count; ++i) seen[i] = true;
    }
    RC_ASSERT(std::find(seen.begin(), seen.end(), false) == seen.end());
  });
}

TEST_CASE("totals of a stretch are those of a scan, clipped at both ends") {
  test::check_property("totals", [](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Event> events = random_events(random, 1 + static_cast<int>(random() % 500));
    Lane lane = lane_of(events);
    std::int64_t end = events.back().when.end.ns + 10;
    auto time = [&] {
      return TimeNs{static_cast<std::int64_t>(random() % 2'000'000) * end / 2'000'000};
    };
    Interval window{time(), time()};
    if (window.end < window.begin) std::swap(window.begin, window.end);
    LaneTotals totals;
    lane.add_totals(window, totals);
    DurationNs busy;
    std::map<ColorRole, DurationNs> of_color;
    for (const Event& event : events) {
      DurationNs inside = intersect(event.when, window).length();
      busy += inside;
      of_color[event.color] += inside;
    }
    RC_ASSERT(totals.busy == busy);
    for (const auto& [color, time_of_color] : of_color)
      RC_ASSERT(totals.of_color[static_cast<std::size_t>(color)] == time_of_color);
  });
}

TEST_CASE("an entry is found by start and row among many that start together") {
  Lane lane;
  for (std::uint32_t i = 0; i < 100; ++i) lane.append({{50}, {50}}, i, ColorRole::kMark);
  lane.append({{50}, {60}}, 100, ColorRole::kMark);
  lane.append({{60}, {70}}, 101, ColorRole::kMark);
  lane.finish();
  CHECK(lane.find({50}, 63) == std::optional<std::uint32_t>(63));
  CHECK(lane.find({50}, 100) == std::optional<std::uint32_t>(100));
  CHECK(lane.find({60}, 101) == std::optional<std::uint32_t>(101));
  CHECK(!lane.find({50}, 101));
  CHECK(!lane.find({1000}, 1));
}

TEST_CASE("overlapping events become one entry that counts and holds them all") {
  Lane lane;
  lane.append_overlapping({{0}, {10}}, 7, ColorRole::kStep);
  lane.append_overlapping({{5}, {30}}, 8, ColorRole::kMark);
  lane.append_overlapping({{6}, {7}}, 9, ColorRole::kStep);
  lane.append_overlapping({{40}, {50}}, 10, ColorRole::kStep);
  lane.finish();
  REQUIRE(lane.entries() == 2);
  CHECK(lane.events() == 4);
  CHECK(lane.interval(0) == Interval{{0}, {30}});
  CHECK(lane.rows(0).size() == 3);
  CHECK(lane.rows(1).front() == 10);
  CHECK(lane.find({6}, 9) == std::optional<std::uint32_t>(0));
  std::vector<LaneItem> items;
  lane.collect(ColumnGrid(TimeMapping({{0}, {50}}, 50)), 0, 50, items);
  REQUIRE(items.size() == 2);
  CHECK(items[0].count == 3);
  CHECK(items[0].width == 30);
  CHECK(items[1].count == 1);
}

TEST_CASE("packing keeps every event, lets none overlap on a line, and bounds the lines") {
  struct Id {
    std::uint32_t value;
  };
  test::check_property("packing", [](unsigned seed) {
    std::mt19937 random(seed);
    std::vector<Interval> intervals;
    std::int64_t t = 0;
    for (unsigned i = 0; i < 600; ++i) {
      t += static_cast<std::int64_t>(random() % 3);
      intervals.push_back({{t}, {t + static_cast<std::int64_t>(random() % 1000)}});
    }
    std::vector<Id> ids;
    for (std::uint32_t i = 0; i < intervals.size(); ++i) ids.push_back({i});
    std::vector<Lane> lanes = pack_lanes(
        ids, [&](Id id) { return intervals[id.value]; },
        [](Id id) { return std::size_t{id.value % 3}; }, [](Id) { return ColorRole::kMark; });
    RC_ASSERT(lanes.size() <= kMaxLanes + 1);
    std::size_t events = 0;
    for (const Lane& lane : lanes) {
      events += lane.events();
      for (std::uint32_t e = 1; e < lane.entries(); ++e)
        RC_ASSERT(lane.interval(e).begin >= lane.interval(e - 1).end);
    }
    RC_ASSERT(events == intervals.size());
  });
}

}  // namespace headway::gui
