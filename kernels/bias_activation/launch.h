// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/column_sum/launch.h"

namespace headway::kernels::cuda {

/// The function that follows the addition of a bias.
enum class Activation { kGelu, kRelu };

struct BiasActivationParameters {
  ColumnTiles tiles;
  const void* x;
  const float* bias;
  const void* dy;  ///< backward only
  void* out;
  float* scratch;  ///< backward only
};

/// y = gelu(x + bias) (kernels/bias_activation/op.h) or max(x + bias, 0); the bias is FP32 in every format. In place is
/// allowed.
Launch bias_activation_forward(const Limits& limits, Activation activation, NumberFormat format,
                               std::int64_t rows, std::int64_t columns, const void* x,
                               const float* bias, void* y);
/// Computes dx and dbias in one pass over x and dy. `scratch`: scratch_floats(1) of plan_columns.
Launches bias_activation_backward(const Limits& limits, Activation activation, NumberFormat format,
                                  std::int64_t rows, std::int64_t columns, const void* x,
                                  const float* bias, const void* dy, void* dx, float* dbias,
                                  float* scratch);

}  // namespace headway::kernels::cuda
