// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/model/event_ref.h"

namespace headway::analyzer {

/// Intervals in which device code is loaded or compiled: the profiler's module loading, calls that
/// load or compile, and ranges of just-in-time compilers. They may overlap.
struct Loading {
  std::vector<Interval> intervals;
  std::vector<EventRef> events;  ///< parallel to `intervals`; none for overheads
  std::vector<trace::ThreadId>
      threads;  ///< parallel to `intervals`; none if the recording does not name the thread
};
Loading find_loading(const trace::Trace& trace);

}  // namespace headway::analyzer
