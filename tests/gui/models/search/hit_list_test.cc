// SPDX-License-Identifier: MIT
#include "gui/models/search/hit_list.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <set>

#include "common/format.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

using analyzer::EventRef;

std::int64_t number(const LinkedTable& table, std::size_t row, std::string_view column) {
  return std::get<std::int64_t>(
      table.table.rows[row][static_cast<std::size_t>(table.column(column))]);
}
std::string text(const LinkedTable& table, std::size_t row, std::string_view column) {
  return std::get<std::string>(
      table.table.rows[row][static_cast<std::size_t>(table.column(column))]);
}

/// More hits than the list has room for: "work 1" to "work N", of 1 to N µs.
std::shared_ptr<const Session> many(int count) {
  test::TraceBuilder builder;
  std::int64_t now = 0;
  for (int i = 0; i < count; ++i) {
    const std::int64_t length = (i * 7919LL % count + 1) * 1000;
    builder.range(1, "work", now, now + length);
    now += length + 10;
  }
  return test::session_of(builder);
}

}  // namespace

TEST_CASE("a bin has what lies between its edges, and edges are powers of ten") {
  CHECK(DurationHistogram::bin_of({0}) == 0);
  CHECK(DurationHistogram::least_of(1).ns == 1);
  CHECK(DurationHistogram::least_of(1 + 8).ns == 10);
  CHECK(DurationHistogram::least_of(1 + 8 * 6).ns == 1'000'000);
  for (std::int64_t ns : {1, 2, 9, 10, 11, 999, 1000, 1334, 12'345, 1'000'000, 999'999'999}) {
    const int bin = DurationHistogram::bin_of({ns});
    CAPTURE(ns);
    CHECK(DurationHistogram::least_of(bin).ns <= ns);
    CHECK(ns < DurationHistogram::least_of(bin + 1).ns);
  }
  // Beyond the scale there is a bin, too.
  CHECK(DurationHistogram::bin_of({INT64_MAX}) == DurationHistogram::bins() - 1);
  DurationHistogram histogram;
  CHECK(histogram.empty());
  for (std::int64_t ns : {1500, 1600, 90'000}) histogram.add({ns});
  CHECK(histogram.events() == 3);
  CHECK(histogram.first() == DurationHistogram::bin_of({1500}));
  CHECK(histogram.last() == DurationHistogram::bin_of({90'000}) + 1);
  CHECK(histogram.highest() == 2);
}

TEST_CASE("the list has name, row, start and duration of every hit, by start, and leads there") {
  auto session = test::training_session();
  const Search search(session->trace, session->analysis, "conv1");
  const HitList list = list_hits(*session, search, {});
  REQUIRE(list.table);
  CHECK(list.hits == search.hits());
  CHECK(list.in_duration == search.hits());
  CHECK(list.histogram.events() == static_cast<std::int64_t>(search.hits()));
  const LinkedTable& table = *list.table;
  REQUIRE(table.table.rows.size() == search.hits());
  EventRef at;
  for (std::size_t i = 0; i < table.table.rows.size(); ++i) {
    at = *search.next(at, true);
    REQUIRE(table.link(i) == Target::of(at));
    const Interval when = analyzer::interval_of(session->trace, at);
    CHECK(number(table, i, "start_ns") == when.begin.ns);
    CHECK(number(table, i, "duration_ns") == when.length().ns);
    CHECK(text(table, i, "name") == analyzer::name_of(session->trace, at));
    // The row is that on which the event is drawn.
    const Row& row = session->timeline.row(session->timeline.find(Target::of(at))->row);
    CHECK(text(table, i, "row").ends_with(row.label));
  }
}

TEST_CASE("rows of several ranks are named with their process or device, of one without") {
  auto one = test::training_session();
  auto two = test::two_rank_session();
  const auto rows = [](const Session& session, std::string_view needle) {
    const Search search(session.trace, session.analysis, needle);
    const HitList list = list_hits(session, search, {});
    std::set<std::string> all;
    for (std::size_t i = 0; i < list.table->table.rows.size(); ++i)
      all.insert(text(*list.table, i, "row"));
    return all;
  };
  for (const std::string& row : rows(*one, "conv1")) CHECK(row.find(" › ") == std::string::npos);
  const std::set<std::string> steps = rows(*two, "step");
  CHECK(steps.size() == 2);
  for (const std::string& row : steps) CHECK(row.ends_with(" › main"));
}

TEST_CASE("a range of durations leaves the hits that take as long") {
  auto session = test::training_session();
  const Search search(session->trace, session->analysis, "conv");
  const HitList all = list_hits(*session, search, {});
  REQUIRE(all.histogram.last() - all.histogram.first() >= 2);
  std::size_t sum = 0;
  for (int bin = all.histogram.first(); bin < all.histogram.last(); ++bin) {
    const HitQuery query{
        DurationHistogram::least_of(bin), DurationHistogram::least_of(bin + 1), {}};
    const HitList part = list_hits(*session, search, query);
    CHECK(static_cast<std::int64_t>(part.in_duration) == all.histogram.count(bin));
    CHECK(part.hits == all.hits);
    CHECK(part.table->table.rows.size() == part.in_duration);
    for (std::size_t i = 0; i < part.table->table.rows.size(); ++i) {
      CHECK(number(*part.table, i, "duration_ns") >= query.least.ns);
      CHECK(number(*part.table, i, "duration_ns") < query.below.ns);
    }
    if (part.in_duration) CHECK(part.table->table.note.find(" in all") != std::string::npos);
    sum += part.in_duration;
  }
  CHECK(sum == all.hits);
}

TEST_CASE("of too many hits the list has the first, longest or shortest, and says so") {
  constexpr int kHits = static_cast<int>(HitList::kMost) * 3;
  auto session = many(kHits);
  const Search search(session->trace, session->analysis, "work");
  const HitList first = list_hits(*session, search, {});
  CHECK(first.table->table.rows.size() == HitList::kMost);
  CHECK(first.in_duration == kHits);
  const std::string all = " of " + format_count(kHits) + " hits";
  CHECK(first.table->table.note == "First " + format_count(HitList::kMost) + all);
  CHECK(number(*first.table, 0, "start_ns") == session->trace.ranges.start[0].ns);
  for (HitQuery::Keep keep : {HitQuery::Keep::kLongest, HitQuery::Keep::kShortest}) {
    const HitList list = list_hits(*session, search, {.keep = keep});
    const bool longest = keep == HitQuery::Keep::kLongest;
    REQUIRE(list.table->table.rows.size() == HitList::kMost);
    CHECK(list.table->table.note ==
          (longest ? "Longest " : "Shortest ") + format_count(HitList::kMost) + all);
    const std::int64_t limit = longest ? 2 * HitList::kMost * 1000 : HitList::kMost * 1000;
    bool fine = true;
    for (std::size_t i = 0; i < HitList::kMost; ++i) {
      const std::int64_t length = number(*list.table, i, "duration_ns");
      fine = fine && (longest ? length > limit : length <= limit);
    }
    CHECK(fine);
  }
}

TEST_CASE("a list that is given up is none") {
  auto session = test::training_session();
  const Search search(session->trace, session->analysis, "conv");
  const std::atomic<bool> cancelled = true;
  CHECK(!list_hits(*session, search, {}, &cancelled).table);
}

}  // namespace headway::gui
