// SPDX-License-Identifier: MIT
// D3: an op waits for the call that enqueued it. D8: so do the first ops, one a stream, of a CUDA
// graph; the others follow them by the order of their streams.
#include "analyzer/graph/edges.h"

namespace headway::analyzer {

using namespace trace;

void add_launches(EdgeSink& sink) {
  const Points& points = sink.points;
  const Trace& trace = points.trace();
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    CallId graph;  // whose ops are under way on this stream
    for (DeviceOpId op : trace.ops_of_stream[StreamId{s}]) {
      CallId call = trace.device_ops.call[op.value];
      if (!call.valid()) continue;
      bool is_graph = trace.calls.kind[call.value] == DeviceCallKind::kGraphLaunch;
      if (!is_graph || call != graph) {
        sink.add(start_of(points.task(call)), start_of(points.task(op)),
                 is_graph ? EdgeKind::kGraphLaunch : EdgeKind::kLaunch, false);
      }
      graph = is_graph ? call : CallId::none();
    }
  }
}

}  // namespace headway::analyzer
