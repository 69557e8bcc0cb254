// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/whatif/fix.h"

namespace headway::analyzer {

/// A fix with what it proposes for a run; both outlive this.
struct ProposedFix {
  const Fix* fix = nullptr;
  const Proposal* proposal = nullptr;
  double least = 0;  ///< for best_order(): what it has to gain of the step once others are made
};

/// Several fixes made at once: what Predictor::predict takes.
struct Together {
  std::string missing;  ///< why there is no answer, naming the fix; empty when there is one
  Scenario scenario;
  std::vector<Scenario> otherwise;   ///< each fix at the ends of its range, the others as proposed
  std::vector<Scenario> alone;       ///< each fix by itself
  std::vector<Scenario> without;     ///< all fixes but this one
  std::vector<double> model_errors;  ///< of each fix, as a share of what is its own

  /// The formula of a fix that adds little is no doubt about what the others gain.
  Prediction predict(const Predictor& predictor) const;

 private:
  double model_error(const Predictor& predictor) const;
};

/// A fix alone gives its own scenario, so the prediction is that of the fix.
/// No answer where a fix does not apply, and where one changes the batch beside others: its lengths
/// are per recorded batch.
Together together(std::span<const ProposedFix> fixes);

}  // namespace headway::analyzer
