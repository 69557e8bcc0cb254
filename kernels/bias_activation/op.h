// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// y = gelu(x + bias) over rows x columns, bias [columns]; gelu in its tanh form,
///   gelu(z) = z · sigmoid(2 · sqrt(2/pi) · (z + 0.044715·z³))
/// One pass in each direction, with e^x to 2 units in the last place. x and y may not overlap.
void bias_gelu_forward(std::int64_t rows, std::int64_t columns, const float* x, const float* bias,
                       float* y);
constexpr Work bias_gelu_forward_work(std::int64_t rows, std::int64_t columns) {
  return {13 * rows * columns, 8 * rows * columns};
}

/// dx = dy · gelu'(x + bias), dbias = sum of dx over rows.
void bias_gelu_backward(std::int64_t rows, std::int64_t columns, const float* x, const float* bias,
                        const float* dy, float* dx, float* dbias);
constexpr Work bias_gelu_backward_work(std::int64_t rows, std::int64_t columns) {
  return {18 * rows * columns, 12 * rows * columns};
}

namespace reference {
double gelu(double z);
}

}  // namespace headway::kernels
