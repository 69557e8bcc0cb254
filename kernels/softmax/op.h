// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// For each row of rows x columns: y = e^(x - max) / sum e^(x - max). Elements of -1e30 and less
/// give probabilities below 1e-37.
void softmax_forward(std::int64_t rows, std::int64_t columns, const float* x, float* y);
/// dx = y · (dy - sum(y·dy)).
void softmax_backward(std::int64_t rows, std::int64_t columns, const float* y, const float* dy,
                      float* dx);
/// y = x - max - log sum e^(x - max), and its gradient dx = dy - e^y · sum(dy).
void log_softmax_forward(std::int64_t rows, std::int64_t columns, const float* x, float* y);
void log_softmax_backward(std::int64_t rows, std::int64_t columns, const float* y, const float* dy,
                          float* dx);

constexpr Work softmax_forward_work(std::int64_t rows, std::int64_t columns) {
  return {5 * rows * columns, 8 * rows * columns};
}
constexpr Work softmax_backward_work(std::int64_t rows, std::int64_t columns) {
  return {4 * rows * columns, 12 * rows * columns};
}

}  // namespace headway::kernels
