// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/analysis.h"

namespace headway::analyzer {

/// Recordings up to this many events are predicted without being asked: it takes a quarter of a second.
inline constexpr std::size_t kPredictedUnasked = 200'000;

/// Gives each finding whose cause has a known fix what that would gain; of several fixes the best one's
/// gain. Does nothing where there is no such finding, or nothing can be predicted (`headway whatif` says
/// why).
void predict_findings(const trace::Trace& trace, Analysis& analysis);

}  // namespace headway::analyzer
