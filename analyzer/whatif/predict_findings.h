// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/analysis.h"
#include "analyzer/hardware/machine_facts.h"

namespace headway::analyzer {

/// Judges the findings by replays: each gets the most that taking its cause away gains, its fixes
/// with what each gains, and its place. What gains nothing is no longer found, but for copies that
/// fill the link. A fix that gains 5 %, or 4 and most likely something, makes a finding where none names it; so does what no fix
/// takes away but lies in one place of each step. Findings of the same time stand together. Advice is about replayed fixes only. A
/// finding that cannot be replayed keeps its exposed time and says why. Of a long recording some steps are replayed. `whole`: all
/// ranks of the job as one trace; null: `trace` alone is replayed.
void predict_findings(const trace::Trace& trace, Analysis& analysis, MachineFacts machine = {},
                      const trace::Trace* whole = nullptr);

}  // namespace headway::analyzer
