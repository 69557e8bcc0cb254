// SPDX-License-Identifier: MIT
#include "kernels/quantise/op.h"

#include <algorithm>
#include <cmath>

#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

constexpr float kMost = 127;

/// NaN counts as the smallest value, as on a GPU.
float within(float x) {
  const float at_least = x > -kMost ? x : -kMost;
  return at_least < kMost ? at_least : kMost;
}

}  // namespace

void quantise(const QuantiseShape& s, const float* from, std::int8_t* to) {
  const std::int64_t grain = std::max<std::int64_t>(1, kFlatGrain / s.to_columns);
  const float inverse = 1 / s.scale;
  parallel_for(s.rows, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const float* x = from + row * s.columns;
      std::int8_t* y = to + row * s.to_columns;
      for (std::int64_t i = 0; i < s.columns; ++i)
        y[i] = static_cast<std::int8_t>(std::nearbyint(within(x[i] * inverse)));
      std::fill(y + s.columns, y + s.to_columns, std::int8_t{0});
    }
  });
}

}  // namespace headway::kernels
