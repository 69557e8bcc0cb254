// SPDX-License-Identifier: MIT
// D7 and waits that nobody recorded: an op was launched in time, its stream was free, and yet it
// started only when an op of another stream ended. A single time is chance, so the wait counts as an
// event (inferred), unless one stream takes part in many such waits and never runs beside another of its
// process: then it is the legacy default stream.
#include <algorithm>
#include <map>

#include "analyzer/graph/edges.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Waits after which a stream that never overlaps counts as the legacy default stream.
constexpr std::int64_t kManyWaits = 5;

/// The awaited op ended at most 1/kNear of the wait before the wait did.
constexpr std::int64_t kNear = 32;

struct Wait {
  DeviceOpId awaited;
  DeviceOpId op;
};

class UnrecordedWaits {
 public:
  UnrecordedWaits(const Trace& trace, const Calibration& calibration)
      : trace_(trace), calibration_(calibration) {
    for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
      if (!trace.ops_of_stream[StreamId{s}].empty())
        streams_[trace.streams[s].process].push_back(StreamId{s});
    }
  }

  std::vector<Wait> find(const std::vector<bool>& explained) const {
    std::vector<Wait> waits;
    for (const auto& [process, streams] : streams_) {
      if (streams.size() < 2) continue;
      for (StreamId stream : streams) find_in(stream, streams, explained, waits);
    }
    return waits;
  }

  /// True when no op of `stream` runs beside an op of another stream of its process and device.
  bool runs_alone(StreamId stream) const {
    for (StreamId other : streams_.at(trace_.streams[stream.value].process)) {
      if (other == stream ||
          trace_.streams[other.value].device != trace_.streams[stream.value].device)
        continue;
      if (overlap(trace_.ops_of_stream[stream], trace_.ops_of_stream[other])) return false;
    }
    return true;
  }

 private:
  void find_in(StreamId stream, const std::vector<StreamId>& streams,
               const std::vector<bool>& explained, std::vector<Wait>& waits) const {
    const DeviceOps& ops = trace_.device_ops;
    const DeviceDelays& delays = calibration_.devices[trace_.streams[stream.value].device.value];
    TimeNs free = TimeNs::min();
    for (DeviceOpId op : trace_.ops_of_stream[stream]) {
      TimeNs stream_free = free;
      free = std::max(free, ops.end[op.value]);
      CallId call = ops.call[op.value];
      if (!call.valid() || explained[op.value]) continue;
      TimeNs launched = trace_.calls.start[call.value];
      TimeNs due = launched + delays.launch.p95;
      if (stream_free > TimeNs::min()) due = std::max(due, stream_free + delays.stream.p95);
      TimeNs start = ops.start[op.value];
      if (start <= due + delays.stream.p95) continue;
      // The longer the wait, the less likely it is chance that the other op ended shortly before.
      DurationNs near = std::max(delays.stream.p95 * 2, (start - due) / kNear);
      DeviceOpId awaited;
      for (StreamId other : streams) {
        if (other == stream) continue;
        DeviceOpId last = last_ended(other, start);
        if (!last.valid() || ops.end[last.value] < start - near) continue;
        CallId earlier = ops.call[last.value];
        if (!earlier.valid() || trace_.calls.start[earlier.value] >= launched) continue;
        if (!awaited.valid() || ops.end[last.value] > ops.end[awaited.value]) awaited = last;
      }
      if (awaited.valid()) waits.push_back({awaited, op});
    }
  }

  /// The op of `stream` that was the last to end by `t`, among the last that began before it.
  DeviceOpId last_ended(StreamId stream, TimeNs t) const {
    auto row = trace_.ops_of_stream[stream];
    auto after = std::partition_point(row.begin(), row.end(), [&](DeviceOpId op) {
      return trace_.device_ops.start[op.value] < t;
    });
    for (int looked = 0; looked < 2 && after != row.begin(); ++looked) {
      --after;
      if (trace_.device_ops.end[after->value] <= t) return *after;
    }
    return DeviceOpId::none();
  }

  bool overlap(std::span<const DeviceOpId> a, std::span<const DeviceOpId> b) const {
    const DeviceOps& ops = trace_.device_ops;
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      Interval both = intersect(ops.interval(a[i]), ops.interval(b[j]));
      if (!both.empty()) return true;
      ops.end[a[i].value] <= ops.end[b[j].value] ? ++i : ++j;
    }
    return false;
  }

  const Trace& trace_;
  const Calibration& calibration_;
  std::map<ProcessId, std::vector<StreamId>> streams_;
};

}  // namespace

void add_unrecorded_waits(const Calibration& calibration, std::span<const NewEdge> known,
                          EdgeSink& sink) {
  const Points& points = sink.points;
  const Trace& trace = points.trace();
  std::vector<bool> explained(trace.device_ops.size());
  for (const NewEdge& edge : known) {
    DeviceOpId op = points.op_of(task_of(edge.to));
    if (op.valid()) explained[op.value] = true;
  }
  UnrecordedWaits unrecorded(trace, calibration);
  std::vector<Wait> waits = unrecorded.find(explained);
  std::vector<std::int64_t> waits_of(trace.streams.size());
  for (const Wait& wait : waits) {
    ++waits_of[trace.device_ops.stream[wait.awaited.value].value];
    ++waits_of[trace.device_ops.stream[wait.op.value].value];
  }
  std::vector<bool> is_default(trace.streams.size());
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s)
    is_default[s] = waits_of[s] >= kManyWaits && unrecorded.runs_alone(StreamId{s});
  for (const Wait& wait : waits) {
    bool legacy = is_default[trace.device_ops.stream[wait.awaited.value].value] ||
                  is_default[trace.device_ops.stream[wait.op.value].value];
    sink.add(end_of(points.task(wait.awaited)), start_of(points.task(wait.op)),
             legacy ? EdgeKind::kDefaultStream : EdgeKind::kEventWait, true);
  }
}

}  // namespace headway::analyzer
