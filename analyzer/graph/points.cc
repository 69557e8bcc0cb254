// SPDX-License-Identifier: MIT
#include "analyzer/graph/points.h"

#include <tuple>

namespace headway::analyzer {

using namespace trace;

Points::Points(const Trace& trace, std::vector<RangeId> ranges, std::vector<TimeNs> rendezvous)
    : trace_(&trace),
      first_op_(static_cast<std::uint32_t>(trace.calls.size())),
      first_range_(static_cast<std::uint32_t>(first_op_ + trace.device_ops.size())),
      first_rendezvous_(static_cast<std::uint32_t>(first_range_ + ranges.size())),
      ranges_(std::move(ranges)),
      rendezvous_(std::move(rendezvous)) {}

EventRef Points::event_of(TaskId task) const {
  if (CallId call = call_of(task); call.valid()) return EventRef::of(call);
  if (DeviceOpId op = op_of(task); op.valid()) return EventRef::of(op);
  if (RangeId range = range_of(task); range.valid()) return EventRef::of(range);
  return {};
}

ThreadId Points::thread_of(TaskId task) const {
  if (CallId call = call_of(task); call.valid()) return trace_->calls.thread[call.value];
  if (RangeId range = range_of(task); range.valid()) return trace_->ranges.thread[range.value];
  return ThreadId::none();
}

bool Points::frees(TaskId task) const {
  const CallId call = call_of(task);
  return call.valid() && trace_->calls.kind[call.value] == DeviceCallKind::kFree;
}

Interval Points::interval(TaskId task) const {
  return {time(start_of(task)), time(end_of(task))};
}

TimeNs Points::time_of_few(PointId point) const {
  std::uint32_t task = point.value / 2;
  if (task < first_rendezvous_) {
    RangeId range = ranges_[task - first_range_];
    return is_start(point) ? trace_->ranges.start[range.value] : trace_->ranges.end[range.value];
  }
  return rendezvous_[task - first_rendezvous_];
}

bool Points::before_at_one_instant(PointId a, PointId b) const {
  // Device ops end before the calls that wait for them, and start after the calls that launch them.
  auto key = [&](PointId point) {
    TaskId task = task_of(point);
    Interval interval = this->interval(task);
    bool instant = interval.begin == interval.end;
    // A rendezvous comes with the start of its last op, so after starts.
    int phase = task.value >= first_rendezvous_ ? 3 : instant ? 1 : is_start(point) ? 2 : 0;
    bool host = thread_of(task).valid();
    bool late = phase == 0 ? host : !host;
    // A batch is made before the wait for it is over.
    RangeId range = range_of(task);
    const RangeInfo* what = range.valid() ? trace_->info(range) : nullptr;
    bool waits = phase == 0 && what && what->kind == RangeKind::kInputWait;
    // Of nested calls that end together, the inner one (which began later) ends first.
    std::int64_t inner = phase == 0 ? -std::int64_t{task.value} : std::int64_t{task.value};
    return std::tuple(phase, late, waits, inner, point.value);
  };
  return key(a) < key(b);
}

}  // namespace headway::analyzer
