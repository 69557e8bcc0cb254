// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/whatif/replayed_fixes.h"

namespace headway::analyzer {

/// The fixes to make, in order: those that findings advise, and those that become worthwhile after
/// them. Each gain is that of the fix and all before it. The plan may begin with two fixes of which
/// neither alone gains enough for a finding. Empty if fewer than two fixes are worthwhile, because
/// the findings then say the same.
std::vector<PredictedGain> plan(const Predictor& predictor, const std::vector<ReplayedFix>& all,
                                const std::vector<Finding>& findings);

}  // namespace headway::analyzer
