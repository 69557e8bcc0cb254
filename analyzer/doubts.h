// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/analysis.h"

namespace headway::analyzer {

/// The doubt of a trace that is still being recorded.
inline constexpr std::string_view kStillRecording =
    "The recording is still running: this report covers the data stored so far.";

/// What the reader must know before trusting the figures: losses, a cut run, few steps,
/// unattributed or unexplained time, simulated devices. Worst first.
std::vector<Doubt> find_doubts(const trace::Trace& trace, const Analysis& analysis);

}  // namespace headway::analyzer
