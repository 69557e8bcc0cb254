// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyzer/event_ref.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// What a host thread did at each instant: the innermost event, a call or a range.
struct Activity {
  Interval interval;
  EventRef event;
  trace::RangeId
      range;  ///< the innermost range at that time, also when the innermost event is a call
};

/// The leaf-exclusive timeline of host threads, made per thread on first use. Not thread-safe.
class HostActivity {
 public:
  explicit HostActivity(const trace::Trace& trace)
      : trace_(trace), of_thread_(trace.threads.size()) {}

  /// Activities of `thread` that overlap `window`, by time; between them the thread did nothing
  /// that was recorded.
  std::span<const Activity> in(trace::ThreadId thread, Interval window);

 private:
  std::vector<Activity> flatten(trace::ThreadId thread) const;

  const trace::Trace& trace_;
  std::vector<std::optional<std::vector<Activity>>> of_thread_;
};

}  // namespace headway::analyzer
