// SPDX-License-Identifier: MIT
#include "gui/models/timeline/timeline_model.h"

#include <doctest/doctest.h>

#include <random>
#include <set>

#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

std::vector<std::string> outline(const TimelineModel& model) {
  std::vector<std::string> lines;
  for (const Row& row : model.rows) lines.push_back(std::string(row.depth, ' ') + row.label);
  return lines;
}

}  // namespace

TEST_CASE("rows follow the run: devices with classes and streams, then threads, then counters") {
  auto session = test::training_session();
  std::vector<std::string> lines = outline(session->timeline);
  CHECK(lines == std::vector<std::string>{"Host device 0", " Time classes", " Stream 1",
                                          " Stream 2", "Process", " trainer", "  Device API",
                                          "  Waits", " Loader workers", "  Reads", "  loader 0",
                                          "  loader 1", " Counters", "  process.cpu",
                                          "  process.memory", "  process.read"});
  CHECK(session->timeline.rows[4].descendants == 11);
  CHECK(session->timeline.rows[5].lanes.size() >= 3);  // step, phase, op
}

TEST_CASE("threads sort naturally and threads without events have no row") {
  test::TraceBuilder builder;
  for (int i : {10, 2, 1}) {
    builder.thread_name(i, "loader-" + std::to_string(i));
    builder.range(i, "work", 0, 10);
  }
  builder.thread_name(77, "idle");
  builder.thread_name(5, "trainer");
  builder.range(5, "step", 0, 10, {.kind = trace::RangeKind::kStep, .step = 0});
  auto session = test::session_of(builder);
  CHECK(outline(session->timeline) == std::vector<std::string>{"Process", " Time classes",
                                                               " trainer", " loader-1", " loader-2",
                                                               " loader-10"});
}

TEST_CASE("every event of the trace is on exactly one line, and is found there") {
  test::TraceBuilder hostile;
  test::build_hostile(hostile, 20);
  for (const auto& session : {test::training_session(), test::session_of(hostile)}) {
    const TimelineModel& model = session->timeline;
    std::size_t events = 0;
    for (const Row& row : model.rows) {
      if (row.is_derived()) continue;
      for (const Lane& lane : row.lanes) events += lane.events();
    }
    CHECK(events == session->trace.event_count());
    std::mt19937 random(1);
    auto check = [&](analyzer::EventRef event) {
      Target target = Target::of(event);
      std::optional<Place> place = model.find(target);
      REQUIRE(place);
      const Lane& lane = model.row(place->row).lanes[place->lane];
      auto rows = lane.rows(place->entry);
      CHECK(std::find(rows.begin(), rows.end(), event.index) != rows.end());
      CHECK(model.target_of(place->row, event.index) == target);
    };
    for (int i = 0; i < 300; ++i) {
      check(analyzer::EventRef::of(trace::RangeId::from(random() % session->trace.ranges.size())));
      check(analyzer::EventRef::of(
          trace::DeviceOpId::from(random() % session->trace.device_ops.size())));
      check(analyzer::EventRef::of(trace::CallId::from(random() % session->trace.calls.size())));
    }
  }
}

TEST_CASE("the event under a pixel is what a scan of the trace's tables finds there") {
  auto session = test::training_session();
  const TimelineModel& model = session->timeline;
  const trace::Trace& trace = session->trace;
  std::mt19937 random(7);
  int looked_at = 0;
  for (int i = 0; i < 20'000 && looked_at < 300; ++i) {
    double zoom = std::pow(10.0, static_cast<double>(random() % 50) / 10);
    std::int64_t length = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(static_cast<double>(model.bounds.length().ns) / zoom));
    std::int64_t begin =
        model.bounds.begin.ns + static_cast<std::int64_t>(random()) %
                                    std::max<std::int64_t>(1, model.bounds.length().ns - length);
    ColumnGrid grid(TimeMapping({{begin}, {begin + length}}, 400));
    int x = static_cast<int>(random() % 400);
    const Row& row = model.rows[random() % model.rows.size()];
    if (row.kind != RowKind::kStream || row.lanes.size() != 1) continue;
    std::vector<LaneItem> items;
    row.lanes[0].collect(grid, x, x + 1, items);
    // Straight from the table, without any index of ours.
    std::vector<std::uint32_t> truth;
    for (std::uint32_t op = 0; op < trace.device_ops.size(); ++op) {
      if (trace.device_ops.stream[op].value != row.subject) continue;
      double from = grid.relative(trace.device_ops.start[op]);
      double to = grid.relative(trace.device_ops.end[op]);
      if (from < grid.edge(x + 1) && grid.edge(x) < to) truth.push_back(op);
    }
    REQUIRE(items.size() == (truth.empty() ? 0 : 1));
    if (truth.empty()) continue;
    ++looked_at;
    std::span<const std::uint32_t> shown = row.lanes[0].rows(items[0].entry, items[0].count);
    if (items[0].count == 1) {
      CHECK(std::find(truth.begin(), truth.end(), shown[0]) != truth.end());
    } else {
      CHECK(std::vector<std::uint32_t>(shown.begin(), shown.end()) == truth);
    }
  }
  CHECK(looked_at == 300);
}

TEST_CASE("collectives stand on a row of their device, split where the last rank came") {
  auto session = test::two_rank_session();
  const TimelineModel& model = session->timeline;
  RowId row = model.derived_row(RowKind::kCollectives, 0);
  REQUIRE(row.valid());
  const Lane& lane = model.row(row).lanes.at(0);
  REQUIRE(lane.entries() == 2);
  CHECK(lane.interval(0) == Interval{{1010}, {1310}});
  CHECK(lane.color(0) == role_of(analyzer::TimeClass::kStragglerWait));
  CHECK(lane.interval(1) == Interval{{1310}, {3000}});
  CHECK(lane.color(1) == role_of(analyzer::TimeClass::kCommTransfer));
  CHECK(model.target_of(row, lane.rows(0).front()) ==
        Target::of(analyzer::EventRef::of(trace::DeviceOpId{2})));
  // The last rank waits for nobody.
  const Lane& last = model.row(model.derived_row(RowKind::kCollectives, 1)).lanes.at(0);
  REQUIRE(last.entries() == 1);
  CHECK(last.interval(0) == Interval{{1310}, {3000}});
}

TEST_CASE("waits of a thread, reads of its loaders and overheads have rows of their own") {
  auto session = test::training_session();
  const TimelineModel& model = session->timeline;
  const trace::Trace& trace = session->trace;
  std::size_t waits = 0;
  std::size_t reads = 0;
  for (std::size_t r = 0; r < trace.ranges.size(); ++r) {
    const trace::RangeInfo* info = trace.info(trace::RangeId::from(r));
    waits += info && info->kind == trace::RangeKind::kInputWait;
    reads += info && info->kind == trace::RangeKind::kRead;
  }
  for (trace::DeviceCallKind kind : trace.calls.kind) waits += trace::is_blocking(kind);
  std::size_t on_waits = 0;
  std::size_t on_reads = 0;
  for (std::size_t r = 0; r < model.rows.size(); ++r) {
    for (const Lane& lane : model.rows[r].lanes) {
      if (model.rows[r].kind == RowKind::kReads) on_reads += lane.events();
      if (model.rows[r].kind != RowKind::kWaits) continue;
      on_waits += lane.events();
      for (std::uint32_t i = 0; i < lane.entries(); ++i) {
        Target target = model.target_of(RowId::from(r), lane.rows(i).front());
        CHECK(model.interval_of(target).begin == lane.interval(i).begin);
      }
    }
  }
  CHECK(on_waits == waits);
  CHECK(on_reads == reads);
  CHECK(reads > 0);
  auto ranks = test::two_rank_session();
  std::optional<Place> overhead = ranks->timeline.find(Target::overhead(0));
  REQUIRE(overhead);
  CHECK(ranks->timeline.row(overhead->row).kind == RowKind::kOverheads);
  CHECK(ranks->timeline.interval_of(Target::overhead(0)) == Interval{{50}, {90}});
}

TEST_CASE("steps, segments and bounds come from trace and analysis") {
  auto session = test::training_session();
  const TimelineModel& model = session->timeline;
  CHECK(model.steps.events() == session->analysis.steps.all.size());
  CHECK(model.interval_of(Target::step(3)) == session->analysis.steps.all[3].host);
  REQUIRE(model.find(Target::step(3)));
  CHECK(!model.find(Target::step(3))->row.valid());
  std::optional<Place> segment = model.find(Target::segment(0, 5));
  REQUIRE(segment);
  CHECK(model.row(segment->row).kind == RowKind::kPartition);
  CHECK(model.bounds.begin <= session->trace.ranges.start.front());
  CHECK(model.bounds.end >= session->trace.end);
}

TEST_CASE("a target that the trace does not have is not found") {
  const TimelineModel& model = test::training_session()->timeline;
  CHECK(!model.find(Target{}));
  CHECK(!model.find(Target::of(analyzer::EventRef::of(trace::RangeId{UINT32_MAX - 1}))));
  CHECK(!model.find(Target::of(analyzer::EventRef::of(trace::DeviceOpId{1'000'000'000}))));
}

TEST_CASE("a run of several ranks names the rank of each device and process") {
  test::TraceBuilder builder;
  builder.range(1, "work", 0, 10);
  trace::Trace trace = builder.load();
  trace.processes.push_back(trace.processes[0]);
  trace.processes[1].rank = 1;
  trace.threads.push_back({.global_tid = 9, .tid = 9, .process = {1}, .name = ""});
  trace.ranges_of_thread.offset = {0, 1, 1};
  trace.ranges_of_thread.rows = {trace::RangeId{0}};
  trace.ranges_of_thread.offset.back() = 1;
  trace.calls_of_thread.offset = {0, 0, 0};
  trace.counters.push_back({"c", "%", "", trace::ProcessId{1}, {}, {{0}, {5}}, {1, 2}});
  auto session = make_session(std::move(trace));
  std::vector<std::string> lines = outline(session->timeline);
  CHECK(lines[0].starts_with("Rank 0"));
  // The training thread has its time classes above its ranges.
  CHECK(lines[1] == " Time classes");
  CHECK(lines[3].starts_with("Rank 1"));
}

}  // namespace headway::gui
