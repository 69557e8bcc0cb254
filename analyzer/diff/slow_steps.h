// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/diff/comparison.h"
#include "analyzer/diff/diff.h"

namespace headway::analyzer {

/// The steps of one side that the rule step-outlier calls outliers.
SlowSteps slow_steps(const RunSamples& runs);

}  // namespace headway::analyzer
