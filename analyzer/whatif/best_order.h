// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "analyzer/whatif/together.h"

namespace headway::analyzer {

/// A fix with what the step takes once it and all before it are made.
struct OrderedFix {
  const Fix* fix = nullptr;  ///< the one that is added
  const Proposal* proposal = nullptr;
  Prediction together;  ///< of it and all before it
};

/// Of the step, that two fixes have to save which save nothing apart: both must be made before anything is seen of it.
inline constexpr double kWorthBoth = 0.05;

/// The fixes in the order in which they gain most together, while another one gains `least` of the step or more. Where none
/// does, the two that gain 5 % or more together, if any do: a step that two things limit alike is no shorter without one of
/// them. Of fixes that set the same switch, or say how long the same messages take, only one is taken. Ceilings and fixes that
/// change the batch take no part.
std::vector<OrderedFix> best_order(const Predictor& predictor, std::vector<ProposedFix> open,
                                   double least);

}  // namespace headway::analyzer
