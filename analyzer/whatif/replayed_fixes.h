// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/model/finding.h"
#include "analyzer/whatif/fix.h"

namespace headway::analyzer {

/// Of what cannot be had by a known fix, so much counts.
inline constexpr double kCeilingCounts = 0.5;
/// The same where other steps of the run show that the program does without, or all of it is in one place.
inline constexpr double kMeasuredCounts = 0.9;

/// A fix and what the recorded steps take with it.
struct ReplayedFix {
  const Fix* fix = nullptr;
  Proposal proposal;      ///< where it does not apply, `text` says why and the others are empty
  Prediction prediction;  ///< of `proposal.scenario`
  /// What the fix makes cheaper takes no time at all: no fix of that cause gains more.
  Scenario ceiling;

  bool applies() const { return proposal.applies; }
  /// Whether it can be made; else it tells only what could be gained at most.
  bool is_real() const { return fix->kind != FixKind::kCeiling; }
  PredictedGain gain(const Predictor& predictor) const;
  /// The same of a prediction of it and others together.
  PredictedGain gain(const Predictor& predictor, const Prediction& of) const;
};

/// Whether what is predicted is told from no gain.
GainSurety surety_of(const Predictor& predictor, const Prediction& of);

/// All known fixes, replayed on all cores. Needs a predictor that misses nothing.
std::vector<ReplayedFix> replay_fixes(const Predictor& predictor);

/// What all durations that `scenario` shortens by a model would gain at most: they become 0, what
/// it lengthens stays as recorded, and no resource limits the step.
Scenario ceiling_of(const Predictor& predictor, const Scenario& scenario);

/// How many known fixes answer the rule: a rule that only one answers names its cause most closely.
int fixes_known(std::string_view rule);

}  // namespace headway::analyzer
