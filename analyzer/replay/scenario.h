// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/replay/program.h"

namespace headway::analyzer {

/// Another length for one constraint.
struct Edit {
  /// The constraint holds no longer.
  static constexpr std::int64_t kRemoved = INT64_MIN;

  ConstraintId constraint;
  std::int64_t lag = 0;   ///< ns, or kRemoved
  bool modelled = false;  ///< from a formula, not from the recording
};

/// What is different from the recorded run. A value; empty: nothing.
struct Scenario {
  /// By PartId: lags of the part are multiplied by it; empty or shorter: 1.
  std::vector<double> factor;
  std::vector<Edit> edits;  ///< by constraint, each once; they count instead of the factor
  /// No step is shorter than this: what a resource needs that the graph does not have (a copy engine,
  /// a link, the workers of a loader).
  DurationNs at_least;

  void scale(PartId part, double by) {
    if (factor.size() <= part.value) factor.resize(std::size_t{part.value} + 1, 1.0);
    factor[part.value] *= by;
  }
  void set(ConstraintId constraint, DurationNs lag, bool modelled = false) {
    edits.push_back({constraint, std::max<std::int64_t>(lag.ns, 0), modelled});
  }
  void remove(ConstraintId constraint) { edits.push_back({constraint, Edit::kRemoved, false}); }
  /// Sorts the edits; of several for one constraint a removal wins, then the shorter.
  void finish();
  /// Both at once: factors multiply, of edits of one constraint the shorter counts.
  Scenario with(const Scenario& other) const;
};

}  // namespace headway::analyzer
