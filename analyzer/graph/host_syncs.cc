// SPDX-License-Identifier: MIT
// D5: which ops a blocking call waits for, by the order in which the program enqueued them. A call
// that names a stream or an event waits for that; a device synchronisation for every stream of the
// process. For calls that name nothing, copies from pageable memory and cudaFree, the schedule
// shows it: they waited for what ended while they ran.
#include <algorithm>

#include "analyzer/graph/edges.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// More streams than a training process uses; with more, only streams that still run count.
constexpr std::size_t kManyStreams = 64;

/// Recordings stamp host and device with clocks that differ by some microseconds: then a call seems
/// to return before what it waited for (5 µs in a recording of 2 H100 by Nsight Systems). Up to
/// this much, an early return counts as that difference.
constexpr DurationNs kClockDifference{50'000};

class HostSyncs {
 public:
  HostSyncs(const ProgramOrder& program, EdgeSink& sink)
      : program_(program), sink_(sink), trace_(sink.points.trace()), frees_wait_(do_frees_wait()) {}

  void add(CallId call) {
    switch (trace_.calls.kind[call.value]) {
      case DeviceCallKind::kStreamSynchronize:
        if (!trace_.calls.stream[call.value].valid()) return wait_for_last_running(call);
        return wait_for(program_.last_before(program_.stream_of(call), start(call)), call, false);
      case DeviceCallKind::kEventSynchronize: {
        ProgramOrder::Target awaited = program_.awaited_by(call);
        if (!awaited.op.valid()) return wait_for_last_running(call);
        return wait_for(awaited.op, call, awaited.inferred);
      }
      case DeviceCallKind::kDeviceSynchronize:
        return wait_for_all(call);
      case DeviceCallKind::kCopyBlocking:
        if (trace_.calls.op[call.value].valid())
          return wait_for(trace_.calls.op[call.value], call, false);
        return wait_for_last_running(call);
      case DeviceCallKind::kCopy:
        return wait_for_own_op(call);
      case DeviceCallKind::kFree:
        return frees_wait_ ? wait_for_all(call) : wait_for_last_running(call);
      default:
        return;
    }
  }

 private:
  TimeNs start(CallId call) const { return trace_.calls.start[call.value]; }
  TimeNs end(CallId call) const { return trace_.calls.end[call.value]; }
  const std::vector<StreamId>& streams(CallId call) const {
    return program_.streams_of(trace_.threads[trace_.calls.thread[call.value].value].process);
  }

  void wait_for(DeviceOpId op, CallId call, bool inferred) {
    if (!op.valid()) return;
    DurationNs late = trace_.device_ops.end[op.value] - end(call);
    if (late > DurationNs{0} && late <= kClockDifference) {
      // The last op that ended in time stands for it, if it ran during the call.
      op = last_ended(trace_.device_ops.stream[op.value], op, end(call));
      inferred = true;
      if (!op.valid() || trace_.device_ops.end[op.value] <= start(call)) return;
    }
    sink_.add(end_of(sink_.points.task(op)), end_of(sink_.points.task(call)), EdgeKind::kHostSync,
              inferred);
  }

  DeviceOpId last_ended(StreamId stream, DeviceOpId before, TimeNs by) const {
    auto row = trace_.ops_of_stream[stream];
    auto at = std::lower_bound(row.begin(), row.end(), before);
    while (at != row.begin()) {
      --at;
      if (trace_.device_ops.end[at->value] <= by) return *at;
    }
    return DeviceOpId::none();
  }

  void wait_for_all(CallId call) {
    bool many = streams(call).size() > kManyStreams;
    for (StreamId stream : streams(call)) {
      DeviceOpId op = program_.last_before(stream, start(call));
      if (op.valid() && (!many || trace_.device_ops.end[op.value] > start(call)))
        wait_for(op, call, false);
    }
  }

  /// A copy that ended before its "asynchronous" call returned kept the host waiting.
  void wait_for_own_op(CallId call) {
    DeviceOpId op = trace_.calls.op[call.value];
    if (!op.valid() || trace_.device_ops.end[op.value] > end(call)) return;
    bool pageable = trace_.device_ops.source_memory[op.value] == MemoryKind::kPageable ||
                    trace_.device_ops.destination_memory[op.value] == MemoryKind::kPageable;
    wait_for(op, call, !pageable);
  }

  void wait_for_last_running(CallId call) {
    DeviceOpId last;
    for (StreamId stream : streams(call)) {
      DeviceOpId op = program_.last_before(stream, start(call));
      if (!op.valid()) continue;
      TimeNs ended = trace_.device_ops.end[op.value];
      if (ended <= start(call) || ended > end(call)) continue;
      if (!last.valid() || ended > trace_.device_ops.end[last.value]) last = op;
    }
    wait_for(last, call, true);
  }

  /// True when nearly every free that found the device busy lasted until it was done. Then all frees wait for the device.
  bool do_frees_wait() const {
    constexpr int kLeast = 20;
    constexpr double kNearlyAll = 0.95;
    int busy = 0;
    int waited = 0;
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      const CallId call{c};
      if (trace_.calls.kind[c] != DeviceCallKind::kFree) continue;
      TimeNs done = TimeNs::min();
      for (StreamId stream : streams(call))
        if (const DeviceOpId op = program_.last_before(stream, start(call)); op.valid())
          done = std::max(done, trace_.device_ops.end[op.value]);
      if (done <= start(call)) continue;
      ++busy;
      waited += done <= end(call) + kClockDifference;
    }
    return busy >= kLeast && waited >= kNearlyAll * busy;
  }

  const ProgramOrder& program_;
  EdgeSink& sink_;
  const Trace& trace_;
  const bool frees_wait_;
};

}  // namespace

void add_host_syncs(const ProgramOrder& program, EdgeSink& sink) {
  HostSyncs syncs(program, sink);
  for (std::uint32_t c = 0; c < sink.points.trace().calls.size(); ++c) syncs.add(CallId{c});
}

}  // namespace headway::analyzer
