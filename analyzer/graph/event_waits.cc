// SPDX-License-Identifier: MIT
// D4: after cudaStreamWaitEvent a stream waits for the work before the event. Recordings that name
// the event say so (measured); for others the event is the last one that the thread recorded before,
// and the streams are those that it worked on next to the two calls (inferred).
#include "analyzer/graph/edges.h"

namespace headway::analyzer {

using namespace trace;

void add_event_waits(const ProgramOrder& program, EdgeSink& sink) {
  const Points& points = sink.points;
  const Calls& calls = points.trace().calls;
  for (std::uint32_t c = 0; c < calls.size(); ++c) {
    if (calls.kind[c] != DeviceCallKind::kStreamWaitEvent) continue;
    StreamId stream = program.stream_of(CallId{c});
    ProgramOrder::Target awaited = program.awaited_by(CallId{c});
    if (!stream.valid() || !awaited.op.valid()) continue;
    if (points.trace().device_ops.stream[awaited.op.value] == stream) continue;  // D2 covers it
    DeviceOpId waiting = program.first_from(stream, calls.start[c]);
    if (!waiting.valid()) continue;
    bool inferred = awaited.inferred || !calls.stream[c].valid();
    sink.add(end_of(points.task(awaited.op)), start_of(points.task(waiting)), EdgeKind::kEventWait,
             inferred);
  }
}

}  // namespace headway::analyzer
