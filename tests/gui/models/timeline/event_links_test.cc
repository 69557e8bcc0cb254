// SPDX-License-Identifier: MIT
#include "gui/models/timeline/event_links.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "gui/models/details/details.h"
#include "gui/models/timeline/path_lanes.h"
#include "tests/gui/support/sessions.h"

namespace headway::gui {
namespace {

using analyzer::EventRef;
using trace::CallId;
using trace::DeviceOpId;
using trace::RangeId;

bool has(const std::vector<EventLink>& links, EventRef from, EventRef to, EventLinkKind kind) {
  return std::any_of(links.begin(), links.end(), [&](const EventLink& link) {
    return link.from == from && link.to == to && link.kind == kind;
  });
}

}  // namespace

TEST_CASE("a launch, an event, a stream wait, a backward op and a collective are linked") {
  trace::Trace trace = test::two_rank_trace();
  EventLinks links(trace);
  const EventRef gemm = EventRef::of(DeviceOpId{0});
  const EventRef reduce0 = EventRef::of(DeviceOpId{2});
  const EventRef reduce1 = EventRef::of(DeviceOpId{3});
  const EventRef launch = EventRef::of(CallId{0});
  CHECK(has(links.of(launch), launch, gemm, EventLinkKind::kLaunch));
  CHECK(has(links.of(gemm), launch, gemm, EventLinkKind::kLaunch));
  const EventRef record = EventRef::of(CallId{2});
  const EventRef wait = EventRef::of(CallId{4});
  CHECK(has(links.of(record), record, wait, EventLinkKind::kRecord));
  CHECK(has(links.of(wait), record, wait, EventLinkKind::kRecord));
  CHECK(has(links.of(reduce0), gemm, reduce0, EventLinkKind::kStreamWait));
  CHECK(has(links.of(gemm), gemm, reduce0, EventLinkKind::kStreamWait));
  // Each rank's own: rank 1's record has nothing to do with rank 0's wait.
  CHECK(!has(links.of(wait), EventRef::of(CallId{3}), wait, EventLinkKind::kRecord));
  CHECK(has(links.of(reduce0), reduce0, reduce1, EventLinkKind::kCollective));
  CHECK(has(links.of(reduce1), reduce1, reduce0, EventLinkKind::kCollective));
  const EventRef sync = EventRef::of(CallId{8});
  CHECK(has(links.of(sync), reduce0, sync, EventLinkKind::kHostWait));
}

TEST_CASE("a backward op leads to the innermost forward op of its sequence number, rank by rank") {
  trace::Trace trace = test::two_rank_trace();
  EventLinks links(trace);
  // By start: step 0 1, linear 2 3, addmm 4 5, backward 6 7.
  for (std::uint32_t rank : {0u, 1u}) {
    EventRef forward = EventRef::of(RangeId{4 + rank});
    EventRef backward = EventRef::of(RangeId{6 + rank});
    CHECK(links.of(backward) ==
          std::vector<EventLink>{{forward, backward, EventLinkKind::kBackward, false}});
    CHECK(has(links.of(forward), forward, backward, EventLinkKind::kBackward));
    CHECK(links.of(EventRef::of(RangeId{2 + rank})).empty());  // the outer op of the same number
  }
}

TEST_CASE("the details list links in words, from either side, and mark what was concluded") {
  auto session = test::two_rank_session();
  EventLinks links(session->trace);
  EventRef reduce = EventRef::of(DeviceOpId{2});
  std::vector<Detail> lines = describe(session->trace, reduce, links.of(reduce));
  REQUIRE(!lines.empty());
  CHECK(lines[0].label == "Links");
  auto line = [&](std::string_view label) {
    return std::find_if(lines.begin(), lines.end(),
                        [&](const Detail& detail) { return detail.label == label; });
  };
  REQUIRE(line("Other rank") != lines.end());
  CHECK(line("Other rank")->value.starts_with("rank 1: ncclDevKernel_AllReduce"));
  CHECK(line("Other rank")->link == Target::of(EventRef::of(DeviceOpId{3})));
  REQUIRE(line("Waited for") != lines.end());
  CHECK(line("Waited for")->value.starts_with("gemm"));
  std::vector<EventLink> inferred = {
      {EventRef::of(DeviceOpId{0}), reduce, EventLinkKind::kStreamWait, true}};
  CHECK(describe(session->trace, reduce, inferred).back().value.ends_with("not recorded)"));
  CHECK(describe(session->trace, reduce, {}).empty());
}

TEST_CASE("an event that keeps thousands waiting gives a bounded number of links, nearest first") {
  trace::Trace trace = test::two_rank_trace();
  trace::Calls& calls = trace.calls;
  // Two thousand waits for the one event that rank 0 recorded.
  for (std::int64_t i = 0; i < 2000; ++i) {
    calls.start.push_back({5000 + i});
    calls.end.push_back({5001 + i});
    calls.name.push_back(calls.name[4]);
    calls.thread.push_back({0});
    calls.stream.push_back({});
    calls.correlation.push_back(0);
    calls.sync_id.push_back(77);
    calls.bytes.push_back(0);
    calls.kind.push_back(trace::DeviceCallKind::kStreamWaitEvent);
    calls.op.push_back({});
  }
  trace.calls_of_thread = {};
  EventLinks links(trace);
  const EventRef record = EventRef::of(CallId{2});
  std::vector<EventLink> found = links.of(record);
  CHECK(found.size() == EventLinks::kMost);
  CHECK(found[0].to == EventRef::of(CallId{4}));
  CHECK(found[1].to == EventRef::of(CallId{10}));
}

TEST_CASE("the lines of the critical path hold each of its pieces where its event is drawn") {
  auto session = test::training_session();
  const TimelineModel& model = session->timeline;
  const auto& pieces = session->analysis.critical_path.pieces;
  REQUIRE(pieces.size() > 100);
  PathLanes path(model);
  std::size_t on_rows = 0;
  for (std::uint32_t i = 0; i < pieces.size(); ++i) {
    std::optional<PathLanes::Where> where = path.where(i);
    if (pieces[i].event.kind == EventRef::Kind::kNone) continue;
    std::optional<Place> place = model.find(Target::of(pieces[i].event));
    REQUIRE(where);
    CHECK(where->row == place->row);
    CHECK(where->lane == place->lane);
    const Lane* lane = path.lane(where->row, where->lane);
    REQUIRE(lane);
    REQUIRE(lane->find(pieces[i].interval.begin, i));
    CHECK(lane->interval(*lane->find(pieces[i].interval.begin, i)) == pieces[i].interval);
    ++on_rows;
  }
  CHECK(on_rows > 100);
  Interval part{pieces[10].interval.begin, pieces[20].interval.end};
  CHECK(path.overlapping(part) == std::pair<std::uint32_t, std::uint32_t>{10, 21});
  CHECK(PathLanes().empty());
}

TEST_CASE("the details tell whether an op is on the critical path, and its slack") {
  auto session = test::training_session();
  const analyzer::CriticalPath& critical = session->analysis.critical_path;
  auto value = [&](std::uint32_t op, std::string_view label) -> std::string {
    for (const Detail& detail :
         describe(session->timeline, Target::of(EventRef::of(DeviceOpId{op})))) {
      if (detail.label == label) return detail.value;
    }
    return "";
  };
  int on = 0;
  int off = 0;
  for (std::uint32_t op = 0; op < session->trace.device_ops.size(); ++op) {
    std::uint32_t slack = critical.slack_ns[op];
    DurationNs time = time_on_path(critical, session->trace, EventRef::of(DeviceOpId{op}));
    // The delay before an op names it, too, but is no time of it.
    DurationNs counted;
    for (const analyzer::PathPiece& piece : critical.pieces) {
      if (piece.event == EventRef::of(DeviceOpId{op}))
        counted += intersect(piece.interval, session->trace.device_ops.interval({op})).length();
    }
    CHECK(time == counted);
    if (op % 40) continue;
    if (time.ns > 0) {
      ++on;
      CHECK(value(op, "Critical path").starts_with("on it for "));
    } else if (slack != analyzer::CriticalPath::kNoSlack) {
      ++off;
      CHECK(value(op, "Critical path") == "not on it");
      if (slack) CHECK(value(op, "Slack").find("it could have ended") != std::string::npos);
    }
  }
  CHECK(off > 0);
  CHECK(on + off > 5);
}

}  // namespace headway::gui
