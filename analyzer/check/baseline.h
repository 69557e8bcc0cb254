// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "analyzer/diff/diff.h"

namespace headway::analyzer {

/// How much a figure grew from the baseline to this run: the typical step relative to the baseline's
/// typical step, all others as a share of the baseline's step cost.
struct BaselineChange {
  bool enough_steps = false;  ///< false: nothing can be said, and the rest means nothing
  double change = 0;          ///< 0.03: 3 % of the baseline's step more
  bool significant = false;   ///< its test is below 5 % and the interval excludes no change
  double detectable = 0;      ///< smaller changes than this would not have been seen
  std::string sentence;
};

/// `metric`: "vs_baseline.step" (the step cost), "vs_baseline.typical_step",
/// "vs_baseline.group.<id>" or "vs_baseline.class.<id>".
BaselineChange baseline_change(const std::string& metric, const DiffRun& baseline,
                               const DiffRun& run);

}  // namespace headway::analyzer
