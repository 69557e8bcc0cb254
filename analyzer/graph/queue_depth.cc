// SPDX-License-Identifier: MIT
// D6: a launch blocks while its stream's queue is full. The depth is the driver's; the edge is made
// only where the schedule shows it: the op that many places ahead started while the call ran.
#include "analyzer/graph/edges.h"

namespace headway::analyzer {
namespace {

/// Outstanding launches per stream at which CUDA 11-12 blocks the caller (docs/design/0022).
constexpr std::size_t kQueueDepth = 1024;

}  // namespace

using namespace trace;

void add_full_queues(EdgeSink& sink) {
  const Points& points = sink.points;
  const Trace& trace = points.trace();
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    auto ops = trace.ops_of_stream[StreamId{s}];
    for (std::size_t i = kQueueDepth; i < ops.size(); ++i) {
      CallId call = trace.device_ops.call[ops[i].value];
      if (!call.valid()) continue;
      TimeNs freed = trace.device_ops.start[ops[i - kQueueDepth].value];
      if (freed <= trace.calls.start[call.value] || freed > trace.calls.end[call.value]) continue;
      sink.add(start_of(points.task(ops[i - kQueueDepth])), end_of(points.task(call)),
               EdgeKind::kQueueFull, true);
    }
  }
}

}  // namespace headway::analyzer
