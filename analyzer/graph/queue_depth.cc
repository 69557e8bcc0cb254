// SPDX-License-Identifier: MIT
// D6: a launch blocks while its stream's queue is full. The depth is the driver's; the edge is made
// only where the schedule shows it: about that many ops are outstanding, and one of them ended (or
// the op that many places ahead started) while the call ran.
#include "analyzer/graph/edges.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Outstanding launches per stream at which CUDA 11-12 blocks the caller (docs/design/0022).
constexpr std::size_t kQueueDepth = 1024;
/// Of them, what is no op of the recording: events, waits, host functions.
constexpr std::size_t kOther = 64;

/// What has to happen before the launch of `row[i]` finds room; none when it need not wait.
/// `ended`: how many of the row had ended when the call returned.
PointId room_for(const Points& points, std::span<const DeviceOpId> row, std::size_t i,
                 std::size_t ended, Interval call) {
  const DeviceOps& ops = points.trace().device_ops;
  auto within = [&](TimeNs time) { return time > call.begin && time <= call.end; };
  const std::size_t outstanding = i - std::min(ended, i);
  if (ended > 0 && outstanding + kOther >= kQueueDepth && within(ops.end[row[ended - 1].value]))
    return end_of(points.task(row[ended - 1]));
  if (i >= kQueueDepth && within(ops.start[row[i - kQueueDepth].value]))
    return start_of(points.task(row[i - kQueueDepth]));
  return PointId::none();
}

}  // namespace

void add_full_queues(EdgeSink& sink) {
  const Points& points = sink.points;
  const Trace& trace = points.trace();
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    auto row = trace.ops_of_stream[StreamId{s}];
    std::size_t ended = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      CallId call = trace.device_ops.call[row[i].value];
      if (!call.valid()) continue;
      const Interval interval{trace.calls.start[call.value], trace.calls.end[call.value]};
      while (ended < row.size() && trace.device_ops.end[row[ended].value] <= interval.end) ++ended;
      PointId room = room_for(points, row, i, ended, interval);
      if (room.valid()) sink.add(room, end_of(points.task(call)), EdgeKind::kQueueFull, true);
    }
  }
}

}  // namespace headway::analyzer
