// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "common/time.h"

namespace headway::analyzer {

/// The time that training steps cost: the quantity that shares, gains, verdicts and budgets refer to.
///
/// The judged stretch begins with the first steady step. It ends where the step after the last steady
/// step begins. It includes slow steps and the time between steps: evaluation, checkpoints, restarts
/// of workers. It excludes gaps in the recording.
struct StepCost {
  DurationNs stretch;      ///< wall time of the judged stretch; without steps: first to last event
  std::int64_t steps = 0;  ///< in the stretch; 1 if the trace has none, 0 if nothing is judged
  /// The median steady step, including the time until the next step begins. Hides rare slow steps.
  DurationNs typical;

  /// The step cost: the mean time per step over the stretch. 0 if nothing is judged.
  DurationNs per_step() const { return steps > 0 ? stretch / steps : DurationNs{}; }
};

}  // namespace headway::analyzer
