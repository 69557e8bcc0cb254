// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/model/between_cause.h"
#include "analyzer/model/event_ref.h"
#include "analyzer/model/step_cost.h"
#include "analyzer/model/time_class.h"
#include "analyzer/steps/steps.h"
#include "common/time.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// A piece of a device's time with one class and the event that made it so: for busy time the op,
/// for idle time what the device waited for (a blocking call, the wait for a batch, the launching
/// call).
struct Segment {
  Interval interval;
  TimeClass time_class = TimeClass::kUnknown;
  EventRef cause;
  /// Where `time_class` is that of a wait that drained the queue: the class of what the host did during the refill.
  std::optional<TimeClass> refill = {};

  /// The class of what the host did meanwhile, whatever the time is charged to.
  TimeClass host_class() const { return refill.value_or(time_class); }
};

/// One step on one device. The segments of [begin, end) are segments[first_segment, first_segment +
/// segment_count).
struct DeviceStep {
  std::uint32_t step = 0;  ///< index into Steps::all
  /// From the end of the previous step's last op to the end of this one's; on a training thread from
  /// the step's begin to the next one's. Neighbours have no time between them.
  Interval interval;
  ClassTimes times;  ///< sums to interval.length() exactly
  std::uint32_t first_segment = 0;
  std::uint32_t segment_count = 0;
  DurationNs
      host_ahead;  ///< from the end of the host's step to its end here: how far the host runs
                   ///< ahead; negative when the host waited for the device and went on working
};

/// The partition of one device's time; for a process without device work, of its training thread's.
struct DevicePartition {
  trace::DeviceId device;         ///< none: of a host thread
  trace::ThreadId thread;         ///< the training thread, when there is no device; else none
  std::vector<DeviceStep> steps;  ///< all steps with work on this device, steady or not, by time
  std::vector<Segment> segments;  ///< by time, without gap or overlap inside a step; neighbours of
                                  ///< one class and cause are joined
  /// Mean over the judged stretch. The classes sum to the step cost, the stretch divided by its steps.
  ClassTimes per_steady_step;
  BetweenTimes between;    ///< the class between_steps of `per_steady_step`, by cause
  DurationNs stretch;      ///< of the steady steps: what they and the time between them take
  DurationNs hidden_comm;  ///< per steady step: communication under compute
  DurationNs hidden_h2d;   ///< per steady step: copies to the device under compute
  std::int64_t steady_steps = 0;

  DurationNs step_cost() const { return steady_steps > 0 ? stretch / steady_steps : DurationNs{}; }
};

/// Recomputes the means of `partition` from its steps and segments.
void average_steps(const RangeNames& names, const Steps& steps, DevicePartition& partition);

/// "device 0 (NVIDIA H100)", "thread 'main' of process 4242": who a partition is about, for people.
std::string partition_label(const trace::Trace& trace, const DevicePartition& partition);

/// Partitions every device that has work and, for processes without any, the training thread. When
/// there are no steps, each gets one step over its whole span. Devices run in parallel.
std::vector<DevicePartition> partition(const trace::Trace& trace, const Steps& steps,
                                       const Attribution& attribution);
/// The same for callers that already have `names`.
std::vector<DevicePartition> partition(const trace::Trace& trace, const RangeNames& names,
                                       const Steps& steps, const Attribution& attribution);

}  // namespace headway::analyzer
