// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/analysis.h"
#include "analyzer/hardware/machine_facts.h"

namespace headway::analyzer {

/// Recordings up to this many events are predicted without being asked: 0.2 s more for 139 000 events, half
/// as long as the report itself (`headway report --predict yes` and `no` in turns, 2 cores).
inline constexpr std::size_t kPredictedUnasked = 200'000;

/// Why the cause of a rule has no fix that could be predicted; empty for those that have one.
std::string_view why_unpredictable(std::string_view rule);

/// A recorded run that is replayed, and its analysis.
struct ReplayedRun {
  const trace::Trace& trace;
  const Analysis& analysis;
};

/// Gives each finding what a known fix of its cause would gain, of several the best one; ceilings stand beside it as "at
/// most". Where nothing can be predicted the finding gets the reason.
void predict_findings(const trace::Trace& trace, Analysis& analysis, MachineFacts machine = {});
/// The same by replaying another view of the run than the one that the findings are from: of a job, all
/// ranks instead of the critical one.
void predict_findings(const ReplayedRun& run, Analysis& analysis, MachineFacts machine = {});

}  // namespace headway::analyzer
