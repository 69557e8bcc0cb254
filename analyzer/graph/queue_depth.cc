// SPDX-License-Identifier: MIT
// D6: a launch blocks while its stream's queue is full. The depth is the driver's; the edge is made
// only where the schedule shows it: about that many ops are outstanding, and one of them ended (or the op that many
// places ahead started, or what the next one waited for on another stream was done) while the call ran.
#include <algorithm>

#include "analyzer/graph/edges.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Outstanding launches per stream at which CUDA 11-12 blocks the caller (docs/design/0022).
constexpr std::size_t kQueueDepth = 1024;
/// Of them, what is no op of the recording: events, waits, host functions.
constexpr std::size_t kOther = 64;

/// What ops on a stream wait for on others, of a graph's edges so far.
class StreamWaits {
 public:
  explicit StreamWaits(std::span<const NewEdge> known) : edges_(known.begin(), known.end()) {
    std::ranges::sort(edges_, {}, [](const NewEdge& edge) { return edge.to.value; });
  }

  /// The last point within the call that `op` had to wait for before it started; none when none is.
  PointId within(const Points& points, Interval call, DeviceOpId op) const {
    PointId last = PointId::none();
    const PointId start = start_of(points.task(op));
    for (const NewEdge& edge : std::ranges::equal_range(
             edges_, start.value, {}, [](const NewEdge& one) { return one.to.value; })) {
      const TimeNs time = points.time(edge.from);
      if (time <= call.begin || time > call.end) continue;
      if (!last.valid() || points.before(last, edge.from)) last = edge.from;
    }
    return last;
  }

 private:
  std::vector<NewEdge> edges_;  // by the point they lead to
};

/// What has to happen before the launch of `row[i]` finds room; none when it need not wait.
/// `ended`: how many of the row had ended when the call returned.
PointId room_for(const Points& points, const StreamWaits& waits, std::span<const DeviceOpId> row,
                 std::size_t i, std::size_t ended, Interval call) {
  const DeviceOps& ops = points.trace().device_ops;
  auto within = [&](TimeNs time) { return time > call.begin && time <= call.end; };
  const std::size_t outstanding = i - std::min(ended, i);
  const bool full = outstanding + kOther >= kQueueDepth;
  if (ended > 0 && full && within(ops.end[row[ended - 1].value]))
    return end_of(points.task(row[ended - 1]));
  if (i >= kQueueDepth && within(ops.start[row[i - kQueueDepth].value]))
    return start_of(points.task(row[i - kQueueDepth]));
  // A wait for an event has a place in the queue, too: it is left when the other stream is done.
  return full && ended < i ? waits.within(points, call, row[ended]) : PointId::none();
}

}  // namespace

void add_full_queues(std::span<const NewEdge> known, EdgeSink& sink) {
  const Points& points = sink.points;
  const StreamWaits waits(known);
  const Trace& trace = points.trace();
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    auto row = trace.ops_of_stream[StreamId{s}];
    std::size_t ended = 0;
    for (std::size_t i = 0; i < row.size(); ++i) {
      CallId call = trace.device_ops.call[row[i].value];
      if (!call.valid()) continue;
      const Interval interval{trace.calls.start[call.value], trace.calls.end[call.value]};
      while (ended < row.size() && trace.device_ops.end[row[ended].value] <= interval.end) ++ended;
      PointId room = room_for(points, waits, row, i, ended, interval);
      if (room.valid()) sink.add(room, end_of(points.task(call)), EdgeKind::kQueueFull, true);
    }
  }
}

}  // namespace headway::analyzer
