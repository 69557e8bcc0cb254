// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/whatif/replayed_fixes.h"

namespace headway::analyzer {

/// What to do in which order: of what findings advise, and what is worth doing once that is done. Each gain is that of the fix
/// and all before it. It may begin with two fixes that gain nothing worth a finding alone. Empty when fewer than two are worth
/// making, so that it would say no more than the findings.
std::vector<PredictedGain> plan(const Predictor& predictor, const std::vector<ReplayedFix>& all,
                                const std::vector<Finding>& findings);

}  // namespace headway::analyzer
