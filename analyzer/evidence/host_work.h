// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// What a host thread mostly did.
struct HostWork {
  std::string_view name;  ///< of the deepest range that fills at least half; empty: none does
  double share = 0;       ///< of the intervals that it fills
  EventRef event;         ///< its longest instance
};

/// Down the stack of `thread` from the outermost range, as long as one name fills at least half of
/// `intervals` (by start, disjoint). A range that is merely near, or one of many, is not the answer.
/// Steps, phases and what launches work itself (the loop, the model) tell nothing.
HostWork dominant_work(const RuleContext& context, trace::ThreadId thread,
                       const std::vector<Interval>& intervals);

/// The steady segments of `classes` on `device`, by start, joined where they touch.
std::vector<Interval> steady_intervals(const RuleContext& context, const DevicePartition& device,
                                       std::initializer_list<TimeClass> classes);

/// The host's own work, where nearly all of it is one stretch of each step: a call, a pause. Its place is known then, whatever
/// it is.
struct HostStop {
  /// The stretch in the median step; zero: the work lies in many places, or in some steps only.
  DurationNs typical;
  /// What the device waits for right after it in most steps; empty: nothing, or different things.
  std::string_view next;
};
HostStop host_stop(const trace::Trace& trace, const Steps& steps, const DevicePartition& device);

/// The host thread that a segment's cause ran on; none when the cause is no range and no call.
trace::ThreadId thread_of_cause(const trace::Trace& trace, EventRef cause);

/// The training threads, by ThreadId; without steps those that launch most in their process.
std::vector<bool> training_threads(const RuleContext& context);

}  // namespace headway::analyzer
