// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/model/event_ref.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// A stretch of a thread's time with the innermost range open in it; none: no range was open.
struct HostPiece {
  Interval interval;
  trace::RangeId range;
};

/// Cuts `window` of a thread by its innermost ranges; covers it exactly, neighbours differ.
/// O(log n + ranges that begin inside).
std::vector<HostPiece> host_pieces(const trace::Trace& trace, trace::ThreadId thread,
                                   Interval window);

}  // namespace headway::analyzer
