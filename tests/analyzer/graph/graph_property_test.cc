// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "analyzer/graph/graph.h"
#include "tests/analyzer/graph/graph_trace.h"
#include "tests/support/property.h"

namespace headway::analyzer {
namespace {

using namespace trace;
using test::GraphTrace;

/// Calls of all kinds on several threads, some nested or overlapping, with ops that may begin before
/// their launch, overlap, or last no time: what damaged recordings look like.
const Trace& random_trace(GraphTrace& t) {
  ProcessId processes[] = {t.process(0), t.process(1)};
  std::vector<ThreadId> threads;
  std::vector<StreamId> streams;
  for (int i = 0; i < 4; ++i) threads.push_back(t.thread(processes[i % 2]));
  for (int i = 0; i < 4; ++i) streams.push_back(t.stream(processes[i % 2]));
  struct NewOp {
    std::int64_t start;
    std::int64_t end;
    CallId call;
    std::size_t stream;
    bool collective;
  };
  std::vector<NewOp> ops;
  std::int64_t now = 0;
  int events = *rc::gen::inRange(1, 60);
  for (int i = 0; i < events; ++i) {
    now += *rc::gen::inRange(0, 30);
    auto thread = static_cast<std::size_t>(*rc::gen::inRange(0, 4));
    auto kind = static_cast<DeviceCallKind>(*rc::gen::inRange(0, 13));
    std::int64_t end = now + *rc::gen::inRange(0, 60);
    auto stream = static_cast<std::size_t>(*rc::gen::inRange(0, 2)) * 2 + thread % 2;
    bool named = *rc::gen::inRange(0, 2) != 0;
    auto id = static_cast<std::uint64_t>(*rc::gen::inRange(0, 4));
    CallId call = t.call(threads[thread], kind, now, end,
                         {.stream = named ? streams[stream] : StreamId{}, .sync_id = id});
    bool enqueues = kind == DeviceCallKind::kLaunch || kind == DeviceCallKind::kCopy ||
                    kind == DeviceCallKind::kCopyBlocking || kind == DeviceCallKind::kGraphLaunch;
    if (!enqueues) continue;
    std::int64_t start = now + *rc::gen::inRange(-5, 80);
    ops.push_back(
        {start, start + *rc::gen::inRange(0, 50), call, stream, *rc::gen::inRange(0, 4) == 0});
  }
  std::stable_sort(ops.begin(), ops.end(),
                   [](const NewOp& a, const NewOp& b) { return a.start < b.start; });
  std::int64_t sequence[2] = {0, 0};
  for (const NewOp& op : ops) {
    DeviceOpId id = t.op(streams[op.stream], op.call, op.start, op.end, "kernel",
                         op.collective ? DeviceOpKind::kCommunication : DeviceOpKind::kKernel);
    if (op.collective) t.collective(id, sequence[op.stream % 2]++);
  }
  return t.finish();
}

}  // namespace

TEST_CASE("whatever the recording, every edge goes forwards in the order of points") {
  test::check_property("edges go forwards", [] {
    GraphTrace t;
    const Trace& trace = random_trace(t);
    DependencyGraph graph(trace);
    std::vector<std::size_t> place(graph.points().size(), SIZE_MAX);
    for (std::size_t i = 0; i < graph.order().size(); ++i) {
      RC_ASSERT(place[graph.order()[i].value] == SIZE_MAX);
      place[graph.order()[i].value] = i;
      if (i > 0)
        RC_ASSERT(graph.points().time(graph.order()[i - 1]) <=
                  graph.points().time(graph.order()[i]));
    }
    RC_ASSERT(graph.order().size() == graph.points().size());
    for (std::uint32_t p = 0; p < graph.points().size(); ++p) {
      for (const Edge& edge : graph.edges_to(PointId{p})) {
        RC_ASSERT(place[edge.from.value] < place[p]);
        DurationNs lag = graph.lag(edge, PointId{p});
        RC_ASSERT(lag.ns >= 0);
        RC_ASSERT(graph.points().time(edge.from) + lag <= graph.points().time(PointId{p}));
      }
    }
  });
}

TEST_CASE("whatever the recording, the path covers its window and has no slack") {
  test::check_property("path covers window", [] {
    GraphTrace t;
    const Trace& trace = random_trace(t);
    CriticalPath path = test::path_of(trace);
    if (path.window.empty()) return;
    TimeNs now = path.window.begin;
    DurationNs sum;
    for (const PathPiece& piece : path.pieces) {
      RC_ASSERT(piece.interval.begin == now);
      RC_ASSERT(!piece.interval.empty());
      now = piece.interval.end;
      bool on_op =
          piece.edge == EdgeKind::kDuration && piece.event.kind == EventRef::Kind::kDeviceOp;
      if (on_op && path.slack_ns[piece.event.index] != CriticalPath::kNoSlack)
        RC_ASSERT(path.slack_ns[piece.event.index] == 0u);
    }
    RC_ASSERT(now == path.window.end);
    for (DurationNs time : path.of_kind) sum += time;
    RC_ASSERT(sum == path.window.length());
    RC_ASSERT(path.inferred <= sum);
  });
}

}  // namespace headway::analyzer
