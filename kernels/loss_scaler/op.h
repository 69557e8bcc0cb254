// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "kernels/gradient_list/op.h"
#include "kernels/work.h"

namespace headway::kernels {

/// State that an optimizer keeps on the device from step to step, so that the host never has to
/// read it: dynamic loss scaling, and the number of steps taken. The scale starts at 2^16, halves
/// when a gradient overflows (that step is skipped), and doubles after 2000 steps without overflow.
/// Four floats, all 0 at the start.
struct OptimizerState {
  float exponent = 0;  ///< the loss scale is 2^(16 + exponent)
  float overflow = 0;  ///< 1: some gradient of this step is infinite or NaN
  float good = 0;      ///< steps without overflow since the scale last changed
  float taken = 0;     ///< updates made, without overflows

  float loss_scale() const;
  bool skip() const { return overflow != 0; }
};

/// Divides all gradients (FP32 here) by the loss scale, in place, and records an overflow.
void unscale(std::span<const GradientTensor> tensors, OptimizerState& state);
constexpr Work unscale_work(std::int64_t count) {
  return {2 * count, 8 * count};
}

/// Ends a step, after the update.
void end_step(OptimizerState& state, bool scaled);

}  // namespace headway::kernels
