// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// Layer normalisation of each row of rows x columns:
///   mean = E[x], rstd = 1 / sqrt(E[(x - mean)²] + epsilon),  y = (x - mean) · rstd · gamma + beta
/// optionally of x = a + b, which is then also written (the residual add before it, in the same
/// pass). Makes two passes over a row, which the first-level cache holds; sums in float, vector by
/// vector.
struct LayerNormShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  constexpr std::int64_t elements() const { return rows * columns; }
};

struct LayerNormForward {
  const float* x = nullptr;
  const float* added = nullptr;  ///< may be null; else x + added is normalised ...
  float* sum = nullptr;          ///< ... and written here
  const float* gamma = nullptr;  ///< [columns]
  const float* beta = nullptr;
  float* y = nullptr;     ///< may not alias x
  float* mean = nullptr;  ///< [rows], for backward
  float* rstd = nullptr;  ///< [rows]
};
void layer_norm_forward(LayerNormShape shape, float epsilon, const LayerNormForward& arguments);

struct LayerNormBackward {
  const float* x = nullptr;  ///< the normalised value (the sum, where there is one)
  const float* dy = nullptr;
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* rstd = nullptr;
  const float* dsum = nullptr;  ///< may be null; else the gradient of the sum from its other use
  float* dx = nullptr;          ///< of x (and of `added`): dsum + the part from dy
  float* dgamma = nullptr;      ///< [columns]
  float* dbeta = nullptr;
};
/// With x^ = (x - mean)·rstd and dz = dy·gamma, per row:
///   dx = rstd · (dz - mean(dz) - x^·mean(dz·x^));  dgamma = sum dy·x^,  dbeta = sum dy over rows.
void layer_norm_backward(LayerNormShape shape, const LayerNormBackward& arguments);

constexpr Work layer_norm_forward_work(LayerNormShape s, bool with_add) {
  return {(with_add ? 9 : 8) * s.elements(), (with_add ? 16 : 8) * s.elements() + 8 * s.rows};
}
constexpr Work layer_norm_backward_work(LayerNormShape s, bool with_add) {
  return {13 * s.elements(), (with_add ? 16 : 12) * s.elements() + 8 * s.rows};
}

namespace reference {
void layer_norm_forward(LayerNormShape shape, float epsilon, const LayerNormForward& arguments);
void layer_norm_backward(LayerNormShape shape, const LayerNormBackward& arguments);
}  // namespace reference

}  // namespace headway::kernels
