// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "analyzer/whatif/together.h"

namespace headway::analyzer {

/// A fix with the prediction for it and all fixes before it in the order.
struct OrderedFix {
  const Fix* fix = nullptr;  ///< the added fix
  const Proposal* proposal = nullptr;
  Prediction together;  ///< with this fix and all before it
};

/// Share of the step that two fixes must save together if each alone saves nothing: no gain is
/// visible before both are made.
inline constexpr double kWorthBoth = 0.05;

/// The fixes in the order in which they gain most together, as long as the next one gains at least
/// the share `least` of the step. If none does, the two fixes that gain most together, if that is
/// at least 5 %: a step with two equal limits does not get shorter without only one of them. Of
/// fixes that set the same switch, or that model the time of the same messages, only one is taken.
/// Ceilings and fixes that change the batch are left out.
std::vector<OrderedFix> best_order(const Predictor& predictor, std::vector<ProposedFix> open,
                                   double least);

}  // namespace headway::analyzer
