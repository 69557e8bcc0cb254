// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "kernels/gradient_list/op.h"
#include "kernels/work.h"

namespace headway::kernels {

/// What an optimizer keeps on the device from step to step, so that the host never has to look:
/// dynamic loss scaling (starts at 2^16, halves when a gradient overflowed and that step is
/// skipped, doubles after 2000 good steps) and the count of steps taken. Four floats, all 0 at the
/// start.
struct OptimizerState {
  float exponent = 0;  ///< the loss scale is 2^(16 + exponent)
  float overflow = 0;  ///< 1: some gradient of this step is infinite or NaN
  float good = 0;      ///< steps without overflow since the scale last changed
  float taken = 0;     ///< updates made, overflows left out

  float loss_scale() const;
  bool skip() const { return overflow != 0; }
};

/// Divides all gradients (FP32 here) by the loss scale, in place, and notes an overflow.
void unscale(std::span<const GradientTensor> tensors, OptimizerState& state);
constexpr Work unscale_work(std::int64_t count) {
  return {2 * count, 8 * count};
}

/// The end of a step, after the update.
void end_step(OptimizerState& state, bool scaled);

}  // namespace headway::kernels
