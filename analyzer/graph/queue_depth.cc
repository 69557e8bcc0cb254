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
/// Places of these that may be unrecorded: host functions, and events where a recording has none.
constexpr std::size_t kOther = 64;

/// What ops wait for on other streams, from the edges found so far.
class StreamWaits {
 public:
  explicit StreamWaits(std::span<const NewEdge> known) : edges_(known.begin(), known.end()) {
    std::ranges::sort(edges_, {}, [](const NewEdge& edge) { return edge.to.value; });
  }

  /// The last point within the call that `op` had to wait for before it started; none without one.
  PointId within(const Points& points, Interval call, DeviceOpId op) const {
    PointId last = PointId::none();
    const PointId start = start_of(points.task(op));
    auto edge = std::ranges::lower_bound(edges_, start.value, {},
                                         [](const NewEdge& one) { return one.to.value; });
    for (; edge != edges_.end() && edge->to == start; ++edge) {
      const TimeNs time = points.time(edge->from);
      if (time <= call.begin || time > call.end) continue;
      if (!last.valid() || points.before(last, edge->from)) last = edge->from;
    }
    return last;
  }

 private:
  std::vector<NewEdge> edges_;  // by the point they lead to
};

bool is_of_events(DeviceCallKind kind) {
  return kind == DeviceCallKind::kEventRecord || kind == DeviceCallKind::kStreamWaitEvent;
}

/// A stream's queue. Event records and event waits take places like ops.
class Queue {
 public:
  Queue(const Points& points, const StreamWaits& waits, StreamId stream)
      : points_(points), waits_(waits), row_(places(points.trace(), stream)) {}

  std::span<const DeviceOpId> row() const { return row_; }
  /// The first op of each call: a graph takes one place, whatever is in it.
  static std::vector<DeviceOpId> places(const Trace& trace, StreamId stream) {
    std::vector<DeviceOpId> places;
    CallId last;
    for (DeviceOpId op : trace.ops_of_stream[stream]) {
      const CallId call = trace.device_ops.call[op.value];
      if (!call.valid() || call != last) places.push_back(op);
      last = call;
    }
    return places;
  }
  /// Adds an event call; in the order of time.
  void add_event(TimeNs called) { events_.push_back(called); }

  /// The point that makes room for a call; none when the call need not wait. `i`: number of ops in the row before it.
  /// `ended`: number of ops of the row that had ended when the call returned.
  PointId room_for(std::size_t i, std::size_t ended, Interval call) const {
    const DeviceOps& ops = points_.trace().device_ops;
    auto within = [&](TimeNs time) { return time > call.begin && time <= call.end; };
    if (ended < i && outstanding(i, ended, call.begin) + kOther >= kQueueDepth) {
      if (ended > 0 && within(ops.end[row_[ended - 1].value]))
        return end_of(points_.task(row_[ended - 1]));
      // A wait leaves the queue when the other stream is done.
      if (const PointId elsewhere = waits_.within(points_, call, row_[ended]); elsewhere.valid())
        return elsewhere;
    }
    if (i >= kQueueDepth && within(ops.start[row_[i - kQueueDepth].value]))
      return start_of(points_.task(row_[i - kQueueDepth]));
    return PointId::none();
  }

 private:
  std::size_t outstanding(std::size_t i, std::size_t ended, TimeNs now) const {
    if (events_.empty()) return i - ended;
    const Trace& trace = points_.trace();
    const CallId next = trace.device_ops.call[row_[ended].value];
    const TimeNs since = next.valid() ? trace.calls.start[next.value] : now;
    const auto first = std::ranges::lower_bound(events_, std::min(since, now));
    return i - ended + static_cast<std::size_t>(std::ranges::lower_bound(events_, now) - first);
  }

  const Points& points_;
  const StreamWaits& waits_;
  std::vector<DeviceOpId> row_;
  std::vector<TimeNs> events_;
};

std::vector<Queue> queues_of(const Points& points, const StreamWaits& waits) {
  const Trace& trace = points.trace();
  std::vector<Queue> queues;
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s)
    queues.emplace_back(points, waits, StreamId{s});
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c)
    if (is_of_events(trace.calls.kind[c]) && trace.calls.stream[c].valid())
      queues[trace.calls.stream[c].value].add_event(trace.calls.start[c]);
  return queues;
}

void add_launches(const Queue& queue, EdgeSink& sink) {
  const Trace& trace = sink.points.trace();
  const auto row = queue.row();
  std::size_t ended = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const CallId call = trace.device_ops.call[row[i].value];
    if (!call.valid()) continue;
    const Interval interval = trace.calls.interval(call);
    while (ended < row.size() && trace.device_ops.end[row[ended].value] <= interval.end) ++ended;
    if (const PointId room = queue.room_for(i, ended, interval); room.valid())
      sink.add(room, end_of(sink.points.task(call)), EdgeKind::kQueueFull, true);
  }
}

/// Adds edges for event records and event waits. Short calls did not block.
void add_events(const std::vector<Queue>& queues, EdgeSink& sink) {
  constexpr DurationNs kBlocked{20'000};
  const Trace& trace = sink.points.trace();
  const DeviceOps& ops = trace.device_ops;
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    const Interval call = trace.calls.interval(CallId{c});
    const StreamId stream = trace.calls.stream[c];
    if (!is_of_events(trace.calls.kind[c]) || call.length() < kBlocked || !stream.valid()) continue;
    const auto row = queues[stream.value].row();
    const auto before = std::ranges::partition_point(row, [&](DeviceOpId op) {
      const CallId launch = ops.call[op.value];
      return (launch.valid() ? trace.calls.start[launch.value] : ops.start[op.value]) < call.begin;
    });
    const auto ended = std::ranges::partition_point(
        row, [&](DeviceOpId op) { return ops.end[op.value] <= call.end; });
    const PointId room =
        queues[stream.value].room_for(static_cast<std::size_t>(before - row.begin()),
                                      static_cast<std::size_t>(ended - row.begin()), call);
    if (room.valid())
      sink.add(room, end_of(sink.points.task(CallId{c})), EdgeKind::kQueueFull, true);
  }
}

}  // namespace

void add_full_queues(std::span<const NewEdge> known, EdgeSink& sink) {
  const StreamWaits waits(known);
  const std::vector<Queue> queues = queues_of(sink.points, waits);
  for (const Queue& queue : queues) add_launches(queue, sink);
  add_events(queues, sink);
}

}  // namespace headway::analyzer
