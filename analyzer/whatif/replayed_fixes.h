// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/model/finding.h"
#include "analyzer/whatif/fix.h"

namespace headway::analyzer {

/// Factor on the gain of a ceiling, because no known fix achieves it.
inline constexpr double kCeilingCounts = 0.5;
/// The same if other steps of the run do without that time, or if it all lies in one place.
inline constexpr double kMeasuredCounts = 0.9;

/// A fix and the prediction of the recorded steps with it.
struct ReplayedFix {
  const Fix* fix = nullptr;
  Proposal proposal;      ///< if it does not apply, `text` says why and other members are empty
  Prediction prediction;  ///< of `proposal.scenario`
  /// The run in which everything that the fix makes cheaper takes no time: no fix of this cause
  /// gains more.
  Scenario ceiling;

  bool applies() const { return proposal.applies; }
  /// True if the fix can be made; false if it only shows the largest possible gain.
  bool is_real() const { return fix->kind != FixKind::kCeiling; }
  PredictedGain gain(const Predictor& predictor) const;
  /// The gain by another prediction, such as one of several fixes together.
  PredictedGain gain(const Predictor& predictor, const Prediction& of) const;
};

/// How surely the predicted gain differs from no gain.
GainSurety surety_of(const Predictor& predictor, const Prediction& of);

/// All known fixes, replayed on all cores. The predictor must be complete (nothing missing).
std::vector<ReplayedFix> replay_fixes(const Predictor& predictor);

/// The scenario of the largest gain: all durations that `scenario` shortens by a model become 0,
/// those that it lengthens stay as recorded, and no resource limits the step.
Scenario ceiling_of(const Predictor& predictor, const Scenario& scenario);

/// Number of known fixes that answer the rule. The fewer there are, the more closely the rule names
/// its cause.
int fixes_known(std::string_view rule);

}  // namespace headway::analyzer
