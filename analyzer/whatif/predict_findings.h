// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/analysis.h"
#include "analyzer/hardware/machine_facts.h"

namespace headway::analyzer {

/// Recordings up to this many events are predicted without being asked: 0.2 s more for 139 000 events, half
/// as long as the report itself (`headway report --predict yes` and `no` in turns, 2 cores).
inline constexpr std::size_t kPredictedUnasked = 200'000;

/// Gives each finding whose cause has a known fix what that would gain; of several fixes the best one's
/// gain. Does nothing where there is no such finding, or nothing can be predicted (`headway whatif` says
/// why).
void predict_findings(const trace::Trace& trace, Analysis& analysis, MachineFacts machine = {});

}  // namespace headway::analyzer
