// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/model/event_ref.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// Something that takes time on a resource: an API call, a device op, a loader's batch or a wait for
/// one, or the meeting of a collective's ranks.
using TaskId = Id<struct TaskTag>;
/// The start (even) or the end (odd) of a task.
using PointId = Id<struct PointTag>;

constexpr PointId start_of(TaskId task) {
  return {task.value * 2};
}
constexpr PointId end_of(TaskId task) {
  return {task.value * 2 + 1};
}
constexpr TaskId task_of(PointId point) {
  return {point.value / 2};
}
constexpr bool is_start(PointId point) {
  return point.value % 2 == 0;
}

/// The tasks of a trace and their times. Tasks are numbered: calls, device ops, ranges that are tasks
/// (batches being made, waits for input; steps of a run without a device), rendezvous of
/// collectives; so a task needs no memory of its own. Thread-safe after construction.
class Points {
 public:
  /// `rendezvous`: when the last rank of each collective came.
  Points(const trace::Trace& trace, std::vector<trace::RangeId> ranges,
         std::vector<TimeNs> rendezvous);

  const trace::Trace& trace() const { return *trace_; }
  std::size_t task_count() const { return first_rendezvous_ + rendezvous_.size(); }
  std::size_t size() const { return task_count() * 2; }

  TaskId task(trace::CallId call) const { return {call.value}; }
  TaskId task(trace::DeviceOpId op) const { return {first_op_ + op.value}; }
  TaskId range_task(std::size_t i) const { return TaskId::from(first_range_ + i); }
  TaskId rendezvous_task(std::size_t i) const { return TaskId::from(first_rendezvous_ + i); }
  const std::vector<trace::RangeId>& ranges() const { return ranges_; }

  trace::CallId call_of(TaskId task) const {
    return task.value < first_op_ ? trace::CallId{task.value} : trace::CallId::none();
  }
  trace::DeviceOpId op_of(TaskId task) const {
    return task.value >= first_op_ && task.value < first_range_
               ? trace::DeviceOpId{task.value - first_op_}
               : trace::DeviceOpId::none();
  }
  trace::RangeId range_of(TaskId task) const {
    return task.value >= first_range_ && task.value < first_rendezvous_
               ? ranges_[task.value - first_range_]
               : trace::RangeId::none();
  }
  /// True for a call that frees device memory. It still has work to do after its wait for the device.
  bool frees(TaskId task) const;
  EventRef event_of(TaskId task) const;
  /// The host thread the task runs on; none for device ops and rendezvous.
  trace::ThreadId thread_of(TaskId task) const;

  Interval interval(TaskId task) const;
  TimeNs time(PointId point) const {
    std::uint32_t task = point.value / 2;
    bool start = is_start(point);
    if (task < first_op_) return start ? trace_->calls.start[task] : trace_->calls.end[task];
    if (task < first_range_) {
      std::uint32_t op = task - first_op_;
      return start ? trace_->device_ops.start[op] : trace_->device_ops.end[op];
    }
    return time_of_few(point);
  }

  /// The order of points: by time; at one instant ends come first, then tasks without duration,
  /// starts, rendezvous; then causes come before their usual effects. Total and strict.
  bool before(PointId a, PointId b) const {
    TimeNs time_a = time(a);
    TimeNs time_b = time(b);
    return time_a != time_b ? time_a < time_b : before_at_one_instant(a, b);
  }

 private:
  TimeNs time_of_few(PointId point) const;  ///< of ranges and rendezvous
  bool before_at_one_instant(PointId a, PointId b) const;

  const trace::Trace* trace_;
  std::uint32_t first_op_;
  std::uint32_t first_range_;
  std::uint32_t first_rendezvous_;
  std::vector<trace::RangeId> ranges_;
  std::vector<TimeNs> rendezvous_;
};

}  // namespace headway::analyzer
