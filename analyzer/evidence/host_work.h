// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// What a host thread mostly did in some intervals.
struct HostWork {
  std::string_view name;  ///< name of the deepest range that fills at least half; empty if none
  double share = 0;       ///< share of the intervals that it fills
  EventRef event;         ///< its longest instance
};

/// The deepest range name in the stack of `thread` that fills at least half of `intervals`, which
/// are disjoint and in order of start. Steps, phases and ranges that launch work (the loop, the
/// model) do not count, because they do not name the host's own work.
HostWork dominant_work(const RuleContext& context, trace::ThreadId thread,
                       const std::vector<Interval>& intervals);

/// The steady segments of `classes` on `device`, by start, joined where they touch.
std::vector<Interval> steady_intervals(const RuleContext& context, const DevicePartition& device,
                                       std::initializer_list<TimeClass> classes);

/// The host's own work if nearly all of it is one stretch of each step (a call, a pause). Then its
/// place in the step is known even if nothing names it.
struct HostStop {
  /// Length of the stretch in the median step; zero if the work lies in many places, or in few
  /// steps.
  DurationNs typical;
  /// Name of the cause of the segment right after it in most steps; empty if it differs.
  std::string_view next;
};
HostStop host_stop(const trace::Trace& trace, const Steps& steps, const DevicePartition& device);

/// The host thread of a segment's cause; none if the cause is neither a range nor a call.
trace::ThreadId thread_of_cause(const trace::Trace& trace, EventRef cause);

/// True for training threads, by ThreadId; without steps, for the thread of each process that
/// launches most.
std::vector<bool> training_threads(const RuleContext& context);

}  // namespace headway::analyzer
