// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/model/time_class.h"
#include "analyzer/partition/input_wait.h"
#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// True for calls that give a device work: launches, copies and memsets.
bool enqueues(const trace::Calls& calls, trace::CallId call);

/// What explaining gaps needs to know of the whole trace, found once. Immutable, so the devices can be
/// explained in parallel.
class GapFacts {
 public:
  GapFacts(const trace::Trace& trace, const RangeNames& names, const Attribution& attribution,
           const Steps& steps);

  /// The op before `op` on its stream; none for the first.
  trace::DeviceOpId previous(trace::DeviceOpId op) const { return previous_[op.value]; }

  /// The latest op of another stream that `op` had to wait for, through stream-wait-event calls made
  /// between the launch of the op before it on its stream and its own; none when there is none.
  trace::DeviceOpId awaited(trace::DeviceOpId op) const;

  /// True inside a step of `thread`. A thread without steps works for one that has them, and where
  /// no steps are known the whole trace counts as training.
  bool in_step(trace::ThreadId thread, TimeNs t) const;

  /// The outermost range, `range` or one around it, that shows work of no step (evaluation, a
  /// checkpoint). It lies between two steps of `thread`, or inside a step if its name is rare or
  /// declares it. None when no range shows such work.
  trace::RangeId between_range(trace::ThreadId thread, trace::RangeId range) const;
  /// False when no range of the trace shows such work.
  bool any_between() const { return any_between_; }
  /// The same for the range that launched a device op.
  trace::RangeId between_range(trace::DeviceOpId op) const;
  /// True when `range` lies between two steps of `thread`; false for a range around a step, which
  /// says nothing about the time between steps.
  bool lies_between(trace::ThreadId thread, trace::RangeId range) const;

  /// The thread that may act while `thread` shows nothing or waits for it: the training thread, or
  /// for the training thread the other thread that launches most (autograd's); none without one.
  trace::ThreadId partner(trace::ThreadId thread) const { return partner_[thread.value]; }

  /// True when the host thread cannot go on before the device has finished: synchronising calls, and
  /// copies to pageable memory, which return only when the copy is done.
  bool blocks(trace::CallId call) const;
  /// True for cudaFree and calls like it, which return memory when the device has finished. False for stream-ordered frees.
  bool waits_to_free(trace::CallId call) const;

  /// Up to this long, the time from one call that enqueues work to the next on a thread is what
  /// issuing that work takes: interpreter, framework, driver.
  DurationNs issue_pause() const { return issue_pause_; }

  /// The class of what `thread` does in `part`, outside of calls and of declared waits and stages.
  /// `range` is the innermost one there; may be none. Partition and replay both use this.
  ///   Issuing work (launch gap): short pauses between calls that enqueue, and longer ones inside an
  ///     operator or a module that enqueues. A CUDA graph would take these away.
  ///   Making input: operators and Python functions that enqueue nothing, in a long pause that a copy
  ///     to the device ends.
  ///   The host's own work: everything else.
  /// `places` makes calls in the order of time cheap.
  struct HostPlaces {
    std::vector<std::size_t> next;  ///< by thread: the first enqueuing call after the last query
  };
  TimeClass host_class(trace::ThreadId thread, Interval part, trace::RangeId range,
                       HostPlaces& places) const;

  /// Time of `process` that CUDA or a profiler took, by start, disjoint.
  struct Taken {
    Interval interval;
    TimeClass time_class;
  };
  const std::vector<Taken>& taken(trace::ProcessId process) const { return taken_[process.value]; }

  const trace::Trace& trace;
  const RangeNames& names;
  const Attribution& attribution;
  const InputWaits waits;

 private:
  /// The step of `thread` that `t` lies in; there must be one.
  Interval step_around(trace::ThreadId thread, TimeNs t) const;
  /// The time between the steps of `thread` around `t`.
  Interval pause_between_steps(trace::ThreadId thread, TimeNs t) const;
  struct Record {
    trace::ProcessId process;
    std::uint64_t sync_id;
    TimeNs start;
    trace::CallId call;
  };
  /// From the end of one enqueuing call of a thread to the start of the next.
  struct Pause {
    Interval interval;
    bool feeds_device = false;  ///< a copy to the device ends it
  };
  Pause pause_at(trace::ThreadId thread, TimeNs t, HostPlaces& places) const;
  TimeClass class_of_input(trace::RangeId range, const Interval& pause) const;
  void find_enqueues();
  void find_partners(const Steps& steps);
  void find_taken();
  void find_rare_names();
  /// For a range inside a step: true when it is not work of the step, by NameFacts::between.
  bool interrupts_step(trace::RangeId range) const;

  std::vector<trace::DeviceOpId> previous_;
  std::vector<std::vector<trace::CallId>> waits_of_stream_;  ///< stream-wait-event calls, by start
  std::vector<Record> records_;  ///< event records by process, sync id, start
  std::vector<std::vector<Interval>> steps_of_thread_;
  std::vector<trace::ThreadId> partner_;
  std::vector<std::vector<trace::CallId>> enqueues_;  ///< by thread: calls that enqueue, by start
  std::vector<bool> issues_;  ///< by range: such a call lies inside, on the same thread
  std::vector<std::vector<Taken>> taken_;
  DurationNs issue_pause_;
  bool any_between_ = false;  ///< false: no range needs a look-up
  std::vector<bool> rare_;    ///< by base of a name: at most half of the steps have such a range
};

}  // namespace headway::analyzer
