// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// What the two usual shortcuts would say of a scenario, to be compared with a replay. Mean and median step in ns,
/// as in Prediction.
struct UsualMethods {
  struct Answer {
    DurationNs step;
    DurationNs median;
  };
  /// Amdahl: each step less what is taken away of the time in which nothing else ran on the device. (So do
  /// tools that rank causes by their exposed time.)
  Answer subtraction;
  /// The longest path through the graph as recorded, where each op waits for the one thing that it waited
  /// for, with the gap as the weight, and changed lengths stand in the place of recorded ones. (So does
  /// Holistic Trace Analysis.)
  Answer longest_path;
};
UsualMethods usual_methods(const Predictor& predictor, const Scenario& scenario);

}  // namespace headway::analyzer
