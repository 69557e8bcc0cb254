// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/attribution/attribution.h"
#include "analyzer/event_ref.h"
#include "analyzer/partition/time_class.h"
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
};

/// One step on one device. The segments of [begin, end) are segments[first_segment, first_segment +
/// segment_count).
struct DeviceStep {
  std::uint32_t step = 0;  ///< index into Steps::all
  Interval interval;       ///< from the end of the previous step's last op to the end of this one's
  ClassTimes times;        ///< sums to interval.length() exactly
  std::uint32_t first_segment = 0;
  std::uint32_t segment_count = 0;
};

/// The partition of one device's time.
struct DevicePartition {
  trace::DeviceId device;
  std::vector<DeviceStep> steps;  ///< all steps with work on this device, steady or not, by time
  std::vector<Segment> segments;  ///< by time, without gap or overlap inside a step; neighbours of
                                  ///< one class and cause are joined
  ClassTimes per_steady_step;     ///< mean over the steady steps (rounded towards zero per class)
  DurationNs hidden_comm;         ///< per steady step: communication under compute
  DurationNs hidden_h2d;          ///< per steady step: copies to the device under compute
  std::int64_t steady_steps = 0;
};

/// Partitions every device that has work. When there are no steps, each device gets one step over
/// its whole span.
std::vector<DevicePartition> partition(const trace::Trace& trace, const Steps& steps,
                                       const Attribution& attribution);

}  // namespace headway::analyzer
