// SPDX-License-Identifier: MIT
#include "gui/models/search/hit_marks.h"

#include <doctest/doctest.h>

#include <numeric>
#include <random>

#include "tests/gui/support/sessions.h"

namespace headway::gui {

TEST_CASE("a rank set behaves like a plain set") {
  std::mt19937 random(5);
  for (std::size_t size : {0u, 1u, 63u, 64u, 65u, 1000u}) {
    std::vector<bool> plain(size, false);
    BitRank bits(size);
    for (std::size_t i = 0; i < size; ++i) {
      if (random() % 7) continue;
      plain[i] = true;
      bits.set(i);
    }
    bits.finish();
    std::size_t before = 0;
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i <= size; ++i) {
      CHECK(bits.rank(i) == before);
      CHECK(bits.previous(i) == last);
      auto next = std::find(plain.begin() + static_cast<std::ptrdiff_t>(i), plain.end(), true);
      if (next == plain.end()) {
        CHECK(!bits.next(i));
      } else {
        CHECK(bits.next(i) == static_cast<std::size_t>(next - plain.begin()));
      }
      if (i == size) break;
      CHECK(bits.test(i) == plain[i]);
      if (plain[i]) last = i;
      before += plain[i];
    }
    CHECK(bits.count() == before);
  }
}

TEST_CASE("a drawn item is marked exactly when one of its events is a hit, at any zoom") {
  auto session = test::training_session();
  const TimelineModel& model = session->timeline;
  for (const char* needle : {"conv", "decode", "\"step\"", "a"}) {
    Search search(session->trace, session->analysis, needle);
    REQUIRE(search.hits() > 0);
    HitMarks marks(model, search);
    std::size_t marked = 0;
    for (std::size_t r = 0; r < model.rows.size(); ++r) {
      std::size_t in_row = 0;
      for (std::uint32_t l = 0; l < model.rows[r].lanes.size(); ++l) {
        const Lane& lane = model.rows[r].lanes[l];
        for (std::int64_t zoom : {1, 30, 1000}) {
          std::int64_t length = model.bounds.length().ns / zoom;
          std::int64_t begin = model.bounds.begin.ns + (model.bounds.length().ns - length) / 2;
          ColumnGrid grid(TimeMapping({{begin}, {begin + length}}, 300));
          std::vector<LaneItem> items;
          lane.collect(grid, 0, 300, items);
          for (const LaneItem& item : items) {
            bool any = false;
            const std::uint32_t first = lane.first_event(item.entry);
            auto all = lane.rows(0, static_cast<std::uint32_t>(lane.entries()));
            for (std::uint32_t i = first; i < first + item.count; ++i) {
              Target target = model.target_of(RowId::from(r), all[i]);
              any = any || (target.kind == Target::Kind::kEvent && search.matches(target.event));
            }
            CHECK(marks.any(RowId::from(r), l, item) == any);
            marked += any;
          }
        }
        for (std::uint32_t id : lane.rows(0, static_cast<std::uint32_t>(lane.entries()))) {
          Target target = model.target_of(RowId::from(r), id);
          in_row += target.kind == Target::Kind::kEvent && search.matches(target.event);
        }
      }
      CHECK(marks.in_row(RowId::from(r)) == in_row);
      CHECK(marks.rows()[r] == (in_row > 0));
    }
    CHECK(marked > 0);
    CHECK(std::accumulate(marks.parts().begin(), marks.parts().end(), 0u) == search.hits());
  }
}

TEST_CASE("marks of a cancelled search mark nothing and break nothing") {
  auto session = test::training_session();
  Search search(session->trace, session->analysis, "conv");
  std::atomic<bool> cancelled = true;
  HitMarks marks(session->timeline, search, &cancelled);
  LaneItem item;
  for (std::size_t r = 0; r < session->timeline.rows.size(); ++r) {
    CHECK(!marks.any(RowId::from(r), 0, item));
    CHECK(marks.in_row(RowId::from(r)) == 0);
  }
}

}  // namespace headway::gui
