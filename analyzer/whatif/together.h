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
  double least = 0;  ///< for best_order(): share of the step that it must gain after others
};

/// Several fixes made at once: what Predictor::predict takes.
struct Together {
  std::string missing;  ///< why there is no answer, naming the fix; empty when there is one
  Scenario scenario;
  std::vector<Scenario> otherwise;   ///< each fix at the ends of its range, the others as proposed
  std::vector<Scenario> alone;       ///< each fix by itself
  std::vector<Scenario> without;     ///< all fixes but this one
  std::vector<double> model_errors;  ///< of each fix, as a share of its own part of the gain

  /// Each fix's model error is weighted by its own gain, so that an uncertain fix with a small gain
  /// does not widen the interval of the others.
  Prediction predict(const Predictor& predictor) const;

 private:
  double model_error(const Predictor& predictor) const;
};

/// Combines fixes. The prediction for a single fix is that of the fix alone. No answer if a fix
/// does not apply, or if one of several changes the batch, because its lengths are per recorded
/// batch.
Together together(std::span<const ProposedFix> fixes);

}  // namespace headway::analyzer
