// SPDX-License-Identifier: MIT
#include "analyzer/graph/path_walk.h"

#include <algorithm>

#include "analyzer/graph/host_pieces.h"
#include "analyzer/partition/device_view.h"
#include "analyzer/partition/input_wait.h"

namespace headway::analyzer {
namespace {

using namespace trace;

PathKind kind_of_call(DeviceCallKind kind) {
  if (is_blocking(kind)) return PathKind::kSync;
  bool allocator = kind == DeviceCallKind::kAllocate || kind == DeviceCallKind::kFree;
  return allocator ? PathKind::kAllocator : PathKind::kHost;
}

bool is_loader_stage(RangeKind kind) {
  switch (kind) {
    case RangeKind::kInputWait:
    case RangeKind::kBatch:
    case RangeKind::kRead:
    case RangeKind::kDecode:
    case RangeKind::kAugment:
    case RangeKind::kCollate:
      return true;
    default:
      return false;
  }
}

}  // namespace

PathWriter::PathWriter(const DependencyGraph& graph, std::vector<PathPiece>& out)
    : graph_(graph),
      trace_(graph.trace()),
      out_(out),
      input_name_(trace_.strings.size(), -1),
      comm_name_(trace_.strings.size(), -1) {}

void PathWriter::put(Interval part, PathKind kind, const Binding& binding, EventRef event,
                     ThreadId thread) {
  if (part.empty()) return;
  out_.push_back({part, kind, binding.kind, binding.inferred, event, thread});
}

void PathWriter::add_unexplained(Interval part) {
  put(part, PathKind::kUnexplained, Binding{}, {});
}

bool PathWriter::is_input(RangeId range) {
  for (RangeId r = range; r.valid(); r = trace_.ranges.parent[r.value]) {
    const trace::RangeInfo* about = trace_.info(r);
    if (about && is_loader_stage(about->kind)) return true;
    std::int8_t& known = input_name_[trace_.ranges.name[r.value].value];
    if (known < 0) known = means_input_wait(trace_.strings[trace_.ranges.name[r.value]]) ? 1 : 0;
    if (known > 0) return true;
  }
  return false;
}

void PathWriter::add_host(ThreadId thread, Interval part, EdgeKind edge, bool inferred) {
  std::vector<HostPiece> pieces = host_pieces(trace_, thread, part);
  Binding binding{PointId::none(), edge, inferred};
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    EventRef event = piece->range.valid() ? EventRef::of(piece->range) : EventRef{};
    put(piece->interval, is_input(piece->range) ? PathKind::kInput : PathKind::kHost, binding,
        event, thread);
  }
}

void PathWriter::add(const Binding& binding, PointId to, Interval part) {
  if (part.empty()) return;
  if (binding.kind == EdgeKind::kDuration) return add_task(binding, task_of(to), part);
  add_between(binding, to, part);
}

void PathWriter::add_task(const Binding& binding, TaskId task, Interval part) {
  const Points& points = graph_.points();
  if (DeviceOpId op = points.op_of(task); op.valid()) {
    PathKind kind = PathKind::kCompute;
    switch (trace_.device_ops.kind[op.value]) {
      case DeviceOpKind::kKernel: {
        std::int8_t& known = comm_name_[trace_.device_ops.name[op.value].value];
        if (known < 0) known = is_communication(trace_, op) ? 1 : 0;
        if (known > 0) kind = PathKind::kCommunication;
        break;
      }
      case DeviceOpKind::kMemset:
        break;
      case DeviceOpKind::kCommunication:
        kind = PathKind::kCommunication;
        break;
      default:
        kind = PathKind::kCopy;
        break;
    }
    return put(part, kind, binding, EventRef::of(op));
  }
  if (CallId call = points.call_of(task); call.valid()) {
    return put(part, kind_of_call(trace_.calls.kind[call.value]), binding, EventRef::of(call),
               trace_.calls.thread[call.value]);
  }
  if (points.range_of(task).valid())
    return add_host(points.thread_of(task), part, binding.kind, binding.inferred);
  put(part, PathKind::kCommunication, binding, {});
}

/// A delay of the machine counts up to the 95th percentile of its kind; the remainder has a cause that
/// was not recorded.
void PathWriter::add_delay(const Binding& binding, PointId to, Interval part, PathKind kind,
                           DurationNs most) {
  EventRef event = graph_.points().event_of(task_of(to));
  TimeNs believed = std::clamp(graph_.points().time(binding.from) + most, part.begin, part.end);
  put({believed, part.end}, PathKind::kUnexplained, binding, event);
  put({part.begin, believed}, kind, binding, event);
}

void PathWriter::add_between(const Binding& binding, PointId to, Interval part) {
  const Points& points = graph_.points();
  auto delays = [&](PointId point) -> const DeviceDelays& {
    DeviceOpId op = points.op_of(task_of(point));
    DeviceId device = trace_.streams[trace_.device_ops.stream[op.value].value].device;
    return graph_.calibration().devices[device.value];
  };
  switch (binding.kind) {
    case EdgeKind::kLaunch:
      return add_delay(binding, to, part, PathKind::kLaunch, delays(to).launch.p95);
    case EdgeKind::kGraphLaunch:
      return add_delay(binding, to, part, PathKind::kLaunch,
                       std::max(delays(to).graph_launch.p95, delays(to).launch.p95));
    case EdgeKind::kStreamOrder:
      // Where ops overlap, the edge runs from start to start: the device was computing.
      if (is_start(binding.from)) return add_task(binding, task_of(binding.from), part);
      [[fallthrough]];
    case EdgeKind::kEventWait:
    case EdgeKind::kDefaultStream:
    case EdgeKind::kCollectiveOrder:
      return add_delay(binding, to, part, PathKind::kDeviceGap, delays(to).stream.p95);
    case EdgeKind::kHostSync:
      return put(part, PathKind::kSync, binding, points.event_of(task_of(to)),
                 points.thread_of(task_of(to)));
    case EdgeKind::kRendezvous:
    case EdgeKind::kTransfer:
      return put(part, PathKind::kCommunication, binding,
                 points.event_of(task_of(binding.kind == EdgeKind::kTransfer ? to : binding.from)));
    case EdgeKind::kQueueFull:
      return put(part, PathKind::kLaunch, binding, points.event_of(task_of(to)),
                 points.thread_of(task_of(to)));
    case EdgeKind::kBatch:
    case EdgeKind::kBatchSlot:
      return put(part, PathKind::kInput, binding, points.event_of(task_of(to)),
                 points.thread_of(task_of(to)));
    default:
      break;
  }
  // The thread's own time: inside of a call that other calls are nested in, or between calls.
  TaskId around = is_start(binding.from) ? task_of(binding.from) : task_of(to);
  bool inside = is_start(binding.from) || !is_start(to);
  if (CallId call = points.call_of(around); inside && call.valid()) {
    return put(part, kind_of_call(trace_.calls.kind[call.value]), binding, EventRef::of(call),
               trace_.calls.thread[call.value]);
  }
  // The time of a thread that takes over is shown by its own ranges, where it has begun any.
  add_host(points.thread_of(task_of(to)), part, binding.kind, binding.inferred);
}

}  // namespace headway::analyzer
