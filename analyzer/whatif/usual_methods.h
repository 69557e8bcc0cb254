// SPDX-License-Identifier: MIT
#pragma once

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// The answers of the two usual shortcuts for a scenario, for comparison with a replay. Mean and
/// median step in ns, as in Prediction.
struct UsualMethods {
  struct Answer {
    DurationNs step;
    DurationNs median;
  };
  /// Amdahl: each step minus the removed time during which nothing else ran on the device. (Tools
  /// that rank causes by their exposed time do this.)
  Answer subtraction;
  /// The longest path through the recorded graph with the changed lengths. Each op depends only on
  /// the one thing that it waited for in the recording, with the gap as the weight. (Holistic Trace
  /// Analysis does this.)
  Answer longest_path;
};
UsualMethods usual_methods(const Predictor& predictor, const Scenario& scenario);

}  // namespace headway::analyzer
