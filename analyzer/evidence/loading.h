// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/model/event_ref.h"

namespace headway::analyzer {

/// Stretches in which device code is loaded or compiled: what the profiler calls module loading, calls that do so, and ranges of
/// just-in-time compilers. May overlap.
struct Loading {
  std::vector<Interval> intervals;
  std::vector<EventRef> events;  ///< beside `intervals`; none for overheads
  std::vector<trace::ThreadId>
      threads;  ///< beside `intervals`; none where the recording does not say
};
Loading find_loading(const trace::Trace& trace);

}  // namespace headway::analyzer
