// SPDX-License-Identifier: MIT
#include "kernels/loss_scaler/op.h"

#include <atomic>
#include <cmath>

#include "kernels/loops/loops.h"
#include "kernels/tensor_list.h"

namespace headway::kernels {
namespace {

constexpr float kGrowthInterval = 2000;
constexpr float kLargestExponent = 8;     // 2^24: beyond it FP16 gradients of 1 overflow anyway
constexpr float kSmallestExponent = -16;  // scale 1

}  // namespace

float OptimizerState::loss_scale() const {
  return std::exp2(16 + exponent);
}

void unscale(std::span<const GradientTensor> tensors, OptimizerState& state) {
  const float factor = 1 / state.loss_scale();
  std::atomic<bool> overflow = state.overflow != 0;
  for_each_piece(tensors, [&](const GradientTensor& t, std::int64_t from, std::int64_t to) {
    float* g = static_cast<float*>(t.values) + from;
    loops().sgd_scale(to - from, factor, g);
    // The squares of a diverged but finite gradient also overflow; skipping that step does no harm.
    if (!std::isfinite(loops().row_squares(to - from, g, 0))) overflow = true;
  });
  state.overflow = overflow ? 1 : 0;
}

void end_step(OptimizerState& state, bool scaled) {
  if (!state.skip()) state.taken += 1;
  if (!scaled) return;
  if (state.skip()) {
    state.exponent = std::max(kSmallestExponent, state.exponent - 1);
    state.good = 0;
  } else if (++state.good >= kGrowthInterval) {
    state.exponent = std::min(kLargestExponent, state.exponent + 1);
    state.good = 0;
  }
  state.overflow = 0;
}

}  // namespace headway::kernels
