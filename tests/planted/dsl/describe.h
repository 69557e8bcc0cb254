// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "tests/planted/dsl/case.h"
#include "trace/trace.h"

namespace headway::planted {

/// Adds what is not an event: settings, graph ops, counters over the whole recording.
void describe(const Case& c, std::optional<int> rank, trace::Trace& trace);

}  // namespace headway::planted
