// SPDX-License-Identifier: MIT
#include "gui/models/figures/row_statistics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

std::int64_t number(const LinkedTable& table, std::size_t row, std::string_view column) {
  return std::get<std::int64_t>(
      table.table.rows[row][static_cast<std::size_t>(table.column(column))]);
}
std::string text(const LinkedTable& table, std::size_t row, std::string_view column) {
  return std::get<std::string>(
      table.table.rows[row][static_cast<std::size_t>(table.column(column))]);
}
std::size_t row_named(const LinkedTable& table, std::string_view end) {
  for (std::size_t i = 0; i < table.table.rows.size(); ++i)
    if (text(table, i, "row").ends_with(end)) return i;
  FAIL("no row " << std::string(end));
  return 0;
}

/// On one thread: a step of 1,000 ns with two ops of 200 and 400 ns, then one of 100 ns after a gap.
std::shared_ptr<const Session> small() {
  test::TraceBuilder builder;
  builder.thread_name(1, "trainer");
  builder.range(1, "forward", 1000, 2000);
  builder.range(1, "conv", 1100, 1300);
  builder.range(1, "linear", 1400, 1800);
  builder.range(1, "conv", 2500, 2600);
  return test::session_of(builder);
}

}  // namespace

TEST_CASE("a row's figures are those of its events, and nested events count once as busy time") {
  auto session = small();
  auto table = row_statistics(session->timeline, {{1000}, {3000}});
  REQUIRE(table);
  const std::size_t row = row_named(*table, "trainer");
  CHECK(number(*table, row, "busy_ns") == 1100);
  CHECK(number(*table, row, "idle_ns") == 900);
  CHECK(number(*table, row, "events") == 4);
  CHECK(number(*table, row, "mean_ns") == (1000 + 200 + 400 + 100) / 4);
  CHECK(number(*table, row, "median_ns") == 300);
  CHECK(number(*table, row, "longest_ns") == 1000);
  // By own time: forward has 400 ns outside of its two ops.
  CHECK(text(*table, row, "names") == "forward 36.4 %, linear 36.4 %, conv 27.3 %");
  CHECK(session->timeline.interval_of(table->link(row)).length().ns == 1000);
}

TEST_CASE(
    "what reaches into the range counts with its part as busy and its whole length as duration") {
  auto session = small();
  auto table = row_statistics(session->timeline, {{1500}, {1600}});
  const std::size_t row = row_named(*table, "trainer");
  CHECK(number(*table, row, "busy_ns") == 100);
  CHECK(number(*table, row, "idle_ns") == 0);
  CHECK(number(*table, row, "events") == 2);
  CHECK(number(*table, row, "longest_ns") == 1000);
  CHECK(text(*table, row, "names") == "linear 100.0 %");
  // Rows that have nothing there are left out; an empty range gives none.
  auto gap = row_statistics(session->timeline, {{2100}, {2200}});
  for (std::size_t i = 0; i < gap->table.rows.size(); ++i)
    CHECK(!text(*gap, i, "row").ends_with("trainer"));
  CHECK(row_statistics(session->timeline, {{2100}, {2100}})->table.rows.empty());
}

TEST_CASE("over the whole trace rows have all their events and no more time than there is") {
  auto session = test::training_session();
  const TimelineModel& model = session->timeline;
  // A mark at the very end is an event, too.
  const Interval all{model.bounds.begin, model.bounds.end + DurationNs{1}};
  auto table = row_statistics(model, all);
  std::int64_t ranges = 0;
  std::int64_t ops = 0;
  for (std::size_t i = 0; i < table->table.rows.size(); ++i) {
    CHECK(number(*table, i, "busy_ns") + number(*table, i, "idle_ns") == all.length().ns);
    CHECK(number(*table, i, "idle_ns") >= 0);
    CHECK(number(*table, i, "median_ns") <= number(*table, i, "longest_ns"));
    CHECK(!text(*table, i, "names").empty());
    const auto place = model.find(table->link(i));
    REQUIRE(place);
    if (model.row(place->row).is_derived()) continue;
    const std::string name = text(*table, i, "row");
    if (!name.ends_with(model.row(place->row).label)) continue;  // a row of waits, say
    if (model.row(place->row).kind == RowKind::kThread) ranges += number(*table, i, "events");
    if (model.row(place->row).kind == RowKind::kStream) ops += number(*table, i, "events");
  }
  CHECK(ranges == static_cast<std::int64_t>(session->trace.ranges.size()));
  CHECK(ops == static_cast<std::int64_t>(session->trace.device_ops.size()));
}

TEST_CASE("the rows of time classes name classes") {
  auto session = test::training_session();
  auto table = row_statistics(session->timeline, session->timeline.bounds);
  const std::size_t row = row_named(*table, "Time classes");
  CHECK(text(*table, row, "names").find('%') != std::string::npos);
  CHECK(table->link(row).kind == Target::Kind::kSegment);
}

TEST_CASE("rows that are given up are none") {
  const std::atomic<bool> cancelled = true;
  auto session = small();
  CHECK(!row_statistics(session->timeline, session->timeline.bounds, &cancelled));
}

}  // namespace headway::gui
