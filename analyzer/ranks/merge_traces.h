// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "trace/trace.h"

namespace headway::analyzer {

/// The recordings of one job, one or several ranks each, as one trace on the clock of the first:
/// to look at ranks side by side. Each process gets its rank. Wall clocks are believed; a doubt says
/// so when the recordings come from several hosts, or do not overlap at all, in which case they begin
/// together. Settings and meta data are the first's. Takes the traces, at least one. `shifts`, if
/// given, gets for each trace by how much its times are later in the result.
trace::Trace merge_traces(std::vector<trace::Trace> traces,
                          std::vector<DurationNs>* shifts = nullptr);

}  // namespace headway::analyzer
