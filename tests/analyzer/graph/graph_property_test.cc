// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "analyzer/graph/graph.h"
#include "tests/analyzer/graph/graph_trace.h"
#include "tests/analyzer/graph/random_trace.h"
#include "tests/support/property.h"

namespace headway::analyzer {
namespace {

using namespace trace;
using test::GraphTrace;
using test::random_trace;

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
