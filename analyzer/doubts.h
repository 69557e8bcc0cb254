// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/analysis.h"

namespace headway::analyzer {

/// Of a live trace.
inline constexpr std::string_view kStillRecording =
    "The recording still runs: what is here is what was stored when this was read.";

/// What the reader must know before trusting the figures: losses, a cut run, few steps,
/// unattributed or unexplained time, simulated devices. Worst first.
std::vector<Doubt> find_doubts(const trace::Trace& trace, const Analysis& analysis);

}  // namespace headway::analyzer
