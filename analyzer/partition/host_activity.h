// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/model/event_ref.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// What a host thread did at each instant: the innermost event, a call or a range.
struct Activity {
  Interval interval;
  EventRef event;
  trace::RangeId
      range;  ///< the innermost range at that time, also when the innermost event is a call
};

/// Walks over what host threads did, leaf by leaf, without storing it: a trace with millions of
/// ranges would need as much memory again. Cheap when windows come in the order of time, because a
/// place in each thread is remembered. Not thread-safe: use one per user.
class HostActivity {
 public:
  explicit HostActivity(const trace::Trace& trace) : trace_(trace), places_(trace.threads.size()) {}

  /// Appends what `thread` did in `window`, cut to it, by time; where nothing was recorded there is
  /// no activity.
  void in(trace::ThreadId thread, Interval window, std::vector<Activity>& out);

 private:
  /// Indexes into the thread's rows: the first that starts after the last window's begin.
  struct Place {
    std::size_t range = 0;
    std::size_t call = 0;
  };
  trace::RangeId open_range(std::span<const trace::RangeId> rows, std::size_t next, TimeNs t) const;

  const trace::Trace& trace_;
  std::vector<Place> places_;
  std::vector<trace::CallId> open_calls_;
};

}  // namespace headway::analyzer
