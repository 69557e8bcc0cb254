// SPDX-License-Identifier: MIT
#pragma once

#include "trace/trace.h"

namespace headway::trace {

/// Builds the indexes of a trace: ranges, calls and I/O events by thread, device ops by stream, graph ops by process and op.
/// All ids in the columns must be in range.
void build_indexes(Trace& trace);

}  // namespace headway::trace
