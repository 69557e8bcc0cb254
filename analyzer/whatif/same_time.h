// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// A cause, as what the replay takes away with it.
struct Cause {
  Scenario without;           ///< the run in which it takes no time
  DurationNs gain;            ///< per step
  double worth = 0;           ///< as Finding::worth
  double best = 0;            ///< share of the step that its best fix gains
  int generality = 0;         ///< fixes_known() of its rule
  std::string_view fix = {};  ///< the best one: two causes with the same are one
};

/// Causes that explain the same time: indexes, the one that stands for all of them first. Two do
/// when taking away both gains no more than taking away the larger one, or when the same fix is the best of both. Of causes whose best fixes
/// gain nearly the same the one that fewest fixes answer stands for the others: it says more of
/// what to do.
using CauseGroup = std::vector<std::size_t>;

/// Every cause in one group; groups by worth. One replay for each pair.
std::vector<CauseGroup> group_by_time(const Predictor& predictor, const std::vector<Cause>& causes);

}  // namespace headway::analyzer
