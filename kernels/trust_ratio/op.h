// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

#include "kernels/adam/op.h"

namespace headway::kernels {

/// Layer-wise adaptive optimizers: the length of a tensor's step is a share of the tensor's norm.
///   LAMB (You et al. 2020): r = m^ / (sqrt(v^) + epsilon) + decay·p, moments as Adam's;
///                           p = p - rate · ratio · r,   ratio = |p| / |r|  (1 where either is 0)
///   LARS (You et al. 2017): g' = g + decay·p,  ratio = trust · |p| / (|g| + decay·|p|)  (trust where
///                           either is 0, as for biases at the start);
///                           v = momentum·v + ratio·rate·g';  p = p - v
/// Norms are sums of squares, in float by blocks and joined in double. An optimizer ignores the
/// fields of AdamTensor and AdamStep that its formula does not name (LARS keeps v in `mean`).
struct LarsStep {
  float rate = 0;
  float momentum = 0.9F;
  float decay = 0;
  float trust = 0.001F;
  float gradient_scale = 1;
};

/// Writes the sum of squares of each tensor's `count` floats, for all tensors in one call.
struct NormTensor {
  const float* values = nullptr;
  std::int64_t count = 0;
};
void squared_norms(std::span<const NormTensor> tensors, std::span<double> sums);
constexpr Work squared_norm_work(std::int64_t count) {
  return {2 * count, 4 * count};
}

/// First half of LAMB: computes moments and directions (`directions[i]` has the tensor's count).
void lamb_directions(std::span<const AdamTensor> tensors, const AdamStep& by,
                     std::span<float* const> directions);
/// Second half: makes the step, with the squared norms of parameters and directions.
void lamb_apply(std::span<const AdamTensor> tensors, const AdamStep& by,
                std::span<float* const> directions, std::span<const double> parameter_squares,
                std::span<const double> direction_squares);
constexpr Work lamb_directions_work(std::int64_t count) {
  return {13 * count, 28 * count};
}
constexpr Work lamb_apply_work(std::int64_t count) {
  return {2 * count, 12 * count};
}

/// LARS after the norms.
void lars_apply(std::span<const AdamTensor> tensors, const LarsStep& by,
                std::span<const double> parameter_squares,
                std::span<const double> gradient_squares);
constexpr Work lars_apply_work(std::int64_t count) {
  return {6 * count, 20 * count};
}

float lamb_ratio(double parameter_squares, double direction_squares);
float lars_ratio(const LarsStep& by, double parameter_squares, double gradient_squares);

}  // namespace headway::kernels
