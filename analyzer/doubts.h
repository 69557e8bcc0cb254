// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/analysis.h"

namespace headway::analyzer {

/// What the reader must know before trusting the figures: losses, a cut run, few steps,
/// unattributed or unexplained time, simulated devices. Worst first.
std::vector<Doubt> find_doubts(const trace::Trace& trace, const Analysis& analysis);

}  // namespace headway::analyzer
