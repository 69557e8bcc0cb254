// SPDX-License-Identifier: MIT
#include "kernels/softmax/op.h"

#include <algorithm>
#include <cmath>

#include "kernels/loops/loops.h"
#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

template <class Row>
void for_each_row(std::int64_t rows, std::int64_t columns, const Row& row) {
  const std::int64_t grain =
      std::max<std::int64_t>(1, kFlatGrain / std::max<std::int64_t>(1, columns));
  parallel_for(rows, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) row(r * columns);
  });
}

}  // namespace

void softmax_forward(std::int64_t rows, std::int64_t columns, const float* x, float* y) {
  for_each_row(rows, columns, [=](std::int64_t first) {
    const float largest = loops().row_largest(columns, x + first);
    const float sum = loops().row_exp(columns, x + first, largest, y + first);
    loops().sgd_scale(columns, 1 / sum, y + first);
  });
}

void softmax_backward(std::int64_t rows, std::int64_t columns, const float* y, const float* dy,
                      float* dx) {
  for_each_row(rows, columns, [=](std::int64_t first) {
    const float shift = loops().row_dot(columns, y + first, dy + first);
    loops().softmax_backward_row(columns, y + first, dy + first, shift, dx + first);
  });
}

void log_softmax_forward(std::int64_t rows, std::int64_t columns, const float* x, float* y) {
  for_each_row(rows, columns, [=](std::int64_t first) {
    const float largest = loops().row_largest(columns, x + first);
    const float sum = loops().row_exp(columns, x + first, largest, y + first);
    loops().row_binary_one(RowOp::kSubtract, columns, x + first, largest + std::log(sum),
                           y + first);
  });
}

void log_softmax_backward(std::int64_t rows, std::int64_t columns, const float* y, const float* dy,
                          float* dx) {
  for_each_row(rows, columns, [=](std::int64_t first) {
    const float sum = loops().row_sum(columns, dy + first);
    loops().row_exp(columns, y + first, 0, dx + first);
    loops().sgd_scale(columns, -sum, dx + first);
    loops().sgd_accumulate(columns, dy + first, dx + first);
  });
}

}  // namespace headway::kernels
