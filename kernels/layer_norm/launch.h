// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/column_sum/launch.h"
#include "kernels/layer_norm/op.h"

namespace headway::kernels::cuda {

/// Arrays of kernels/layer_norm/op.h in one format; gamma, beta, their gradients and the statistics are FP32.
struct LayerNormArrays {
  const void* x = nullptr;  ///< backward: the normalised value (the sum, where there is one)
  const void* added = nullptr;
  void* sum = nullptr;
  const float* gamma = nullptr;
  const float* beta = nullptr;
  void* y = nullptr;
  float* mean = nullptr;
  float* rstd = nullptr;
  // Backward.
  const void* dy = nullptr;
  const void* dsum = nullptr;  ///< may be null
  void* dx = nullptr;
  float* dgamma = nullptr;
  float* dbeta = nullptr;
  float* scratch = nullptr;
};

enum class LayerNormVariant {
  kBest,   ///< kWarp up to 1024 columns, kBlock up to 8192, otherwise kNaive
  kNaive,  ///< a block per row, which reads the row once per sum; any width
  kWarp,   ///< a warp per row, kept in registers: memory is read once
  kBlock,  ///< a block per row, kept in registers
};

struct LayerNormParameters {
  LayerNormShape shape;
  LayerNormArrays arrays;
  float epsilon;
  bool packed;
  ColumnTiles tiles;  ///< for the sums over rows, where they have a separate kernel
};

/// Floats of `scratch` that backward needs, for any variant.
std::int64_t layer_norm_scratch_floats(const Limits& limits, LayerNormShape shape);

Launch layer_norm_forward(const Limits& limits, NumberFormat format, LayerNormShape shape,
                          float epsilon, const LayerNormArrays& arrays,
                          LayerNormVariant variant = LayerNormVariant::kBest);
/// kWarp and kBlock read x and dy once: threads keep their columns' partial sums of dgamma and
/// dbeta from row to row.
Launches layer_norm_backward(const Limits& limits, NumberFormat format, LayerNormShape shape,
                             const LayerNormArrays& arrays,
                             LayerNormVariant variant = LayerNormVariant::kBest);

}  // namespace headway::kernels::cuda
