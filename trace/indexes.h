// SPDX-License-Identifier: MIT
#pragma once

#include "trace/trace.h"

namespace headway::trace {

/// Groups the ranges and calls by thread and the ops by stream, and the graph ops by process and op:
/// everything in a Trace that follows from its columns. The ids in them must be in range.
void build_indexes(Trace& trace);

}  // namespace headway::trace
