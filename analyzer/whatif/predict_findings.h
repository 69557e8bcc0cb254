// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/analysis.h"
#include "analyzer/hardware/machine_facts.h"

namespace headway::analyzer {

/// Judges the findings by replays. Each finding gets the largest gain from removing its cause, the
/// gain of each of its fixes, and its rank. Findings without a gain are dropped, except copies that
/// fill the link. A fix that gains 5 %, or 4 % with a gain very likely, makes a new finding if no
/// finding names it; so does time in one place of each step that no fix removes. Findings that
/// explain the same time are grouped. Advice is only about replayed fixes. A finding that cannot be
/// replayed keeps its exposed time and says why. Of a long recording, only some steps are replayed.
/// `whole`: all ranks of the job as one trace; null: only `trace` is replayed.
void predict_findings(const trace::Trace& trace, Analysis& analysis, MachineFacts machine = {},
                      const trace::Trace* whole = nullptr);

}  // namespace headway::analyzer
