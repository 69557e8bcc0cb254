// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "analyzer/partition/partition.h"
#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// True for the steps that figures are over: the steady ones, or the whole span of a trace without
/// steps.
inline bool counts(const Steps& steps, const DeviceStep& step) {
  return steps.all.empty() || steps.all[step.step].steady;
}

/// Calls `visit(step, op)` for every device op that starts inside a counted step of the device, in
/// order of time. Returns the number of counted steps.
template <class Visit>
std::int64_t for_each_steady_op(const trace::Trace& trace, const Steps& steps,
                                const DevicePartition& partition, Visit visit) {
  const std::vector<TimeNs>& starts = trace.device_ops.start;
  std::int64_t counted = 0;
  for (const DeviceStep& step : partition.steps) {
    if (!counts(steps, step)) continue;
    ++counted;
    auto i = static_cast<std::size_t>(
        std::lower_bound(starts.begin(), starts.end(), step.interval.begin) - starts.begin());
    for (; i < starts.size() && starts[i] < step.interval.end; ++i) {
      if (trace.streams[trace.device_ops.stream[i].value].device == partition.device)
        visit(step, trace::DeviceOpId::from(i));
    }
  }
  return counted;
}

}  // namespace headway::analyzer
