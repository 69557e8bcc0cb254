// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// A cause, described by the run without it.
struct Cause {
  Scenario without;           ///< the run in which it takes no time
  DurationNs gain;            ///< per step
  double worth = 0;           ///< as Finding::worth
  double best = 0;            ///< share of the step that its best fix gains
  int generality = 0;         ///< fixes_known() of its rule
  std::string_view fix = {};  ///< the best fix; causes with the same one are grouped
};

/// Causes that explain the same time, as indexes; the lead comes first. Two causes explain the same
/// time if removing both gains no more than removing the larger one, or if both have the same best
/// fix. Of causes whose best fixes gain nearly the same, the one that fewest fixes answer is the
/// lead, because it says most about what to do.
using CauseGroup = std::vector<std::size_t>;

/// Every cause in one group; groups by worth. One replay for each pair.
std::vector<CauseGroup> group_by_time(const Predictor& predictor, const std::vector<Cause>& causes);

}  // namespace headway::analyzer
