// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// to[row][column] = from[row][column] / scale, rounded to the nearest (ties to even), within -127..127; columns of `to` beyond
/// those of `from` are 0. What is no number becomes -127.
struct QuantiseShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t to_columns = 0;  ///< at least as many
  float scale = 1;
};
void quantise(const QuantiseShape& shape, const float* from, std::int8_t* to);

/// What a product ends with. Of each row and column, in this order:
///   v = factor[column] · x + bias[column]
///   v = v + residual_factor · residual          where there is one
///   v = max(v, 0), or gelu(v) (kernels/bias_activation/op.h)
///   y = v, or v · inverse_scale rounded to the nearest within -127..127
enum class EpilogueActivation : std::uint8_t { kNone, kRelu, kGelu };
struct ProductEpilogue {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  EpilogueActivation activation = EpilogueActivation::kNone;
  float residual_factor = 1;  ///< the scale of a residual of integers
  float inverse_scale = 0;    ///< of results that are integers
};

}  // namespace headway::kernels
