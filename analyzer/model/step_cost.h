// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "common/time.h"

namespace headway::analyzer {

/// The time that training steps cost: the quantity that shares, gains, verdicts and budgets refer to.
///
/// The judged stretch reaches from the begin of the first steady step to the begin of the step after
/// the last one. It includes slow steps and what lies between steps: evaluation, checkpoints, workers
/// that restart. Where steps were not recorded in between, they are not part of it.
struct StepCost {
  DurationNs stretch;      ///< wall time of the judged stretch; of the whole span without steps
  std::int64_t steps = 0;  ///< in the stretch; 1 for a span without steps, 0 when nothing is judged
  /// The median step, from its begin to the begin of the next one. Says nothing of rare slow steps.
  DurationNs typical;

  /// The step cost: what one more step takes in the long run. 0 when nothing is judged.
  DurationNs per_step() const { return steps > 0 ? stretch / steps : DurationNs{}; }
};

}  // namespace headway::analyzer
