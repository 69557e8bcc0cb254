// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// to[row][column] = from[row][column] / scale, rounded to nearest (ties to even) and clamped to
/// -127..127; columns of `to` beyond those of `from` are 0. NaN becomes -127.
struct QuantiseShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t to_columns = 0;  ///< at least `columns`
  float scale = 1;
};
void quantise(const QuantiseShape& shape, const float* from, std::int8_t* to);

/// The final steps of a product. For each row and column, in this order:
///   v = factor[column] · x + bias[column]
///   v = v + residual_factor · residual          where there is one
///   v = max(v, 0), or gelu(v) (kernels/bias_activation/op.h)
///   y = v, or v · inverse_scale rounded to the nearest within -127..127
enum class EpilogueActivation : std::uint8_t { kNone, kRelu, kGelu };
struct ProductEpilogue {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  EpilogueActivation activation = EpilogueActivation::kNone;
  float residual_factor = 1;  ///< the scale of an integer residual
  float inverse_scale = 0;    ///< of integer results
};

}  // namespace headway::kernels
