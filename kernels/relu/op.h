// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// y = max(x, 0) over `count` floats; x and y may not overlap. One pass, exact.
void relu_forward(std::int64_t count, const float* x, float* y);
constexpr Work relu_forward_work(std::int64_t count) {
  return {count, 8 * count};
}

/// dx = dy where y > 0, else 0 (so the gradient at 0 is 0). One pass, exact; no overlap.
void relu_backward(std::int64_t count, const float* y, const float* dy, float* dx);
constexpr Work relu_backward_work(std::int64_t count) {
  return {count, 12 * count};
}

}  // namespace headway::kernels
