// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <vector>

#include "tests/planted/dsl/case.h"
#include "tests/planted/dsl/recording.h"
#include "trace/trace.h"

namespace headway::planted {

/// The recording as a trace: of all ranks, or of one as its own file would hold it.
trace::Trace assemble(const Case& c, const Recording& recording, std::optional<int> rank = {});

/// The whole way: simulate and assemble.
trace::Trace make_trace(const Case& c);
/// One trace per rank.
std::vector<trace::Trace> make_rank_traces(const Case& c);

}  // namespace headway::planted
