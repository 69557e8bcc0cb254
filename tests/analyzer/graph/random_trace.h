// SPDX-License-Identifier: MIT
#pragma once

#include "tests/analyzer/graph/graph_trace.h"

namespace headway::test {

/// Calls of all kinds on several threads, some nested or overlapping, with ops that may begin before
/// their launch, overlap, or last no time: what damaged recordings look like. For use in properties.
const trace::Trace& random_trace(GraphTrace& t);

}  // namespace headway::test
