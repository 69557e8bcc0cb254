// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// The recorded job with another number of ranks, each with the same work as now.
struct MoreRanks {
  Scenario scenario;
  std::string text;  ///< what was extrapolated and how, with figures; or why nothing can be
  bool possible = false;
};
/// Each collective of the whole world takes α·h(n) + bytes·β·m(n): α and β are fitted to the recorded ones of
/// its kind, h is the number of hops of the better of a ring and a double tree, m = (n-1)/n what a ring moves.
MoreRanks with_ranks(const Predictor& predictor, int ranks);

}  // namespace headway::analyzer
