// SPDX-License-Identifier: MIT
#include "kernels/bias_activation/op.h"

#include <cmath>

#include "kernels/column_sum/op.h"
#include "kernels/loops/loops.h"

namespace headway::kernels {

void bias_gelu_forward(std::int64_t rows, std::int64_t columns, const float* x, const float* bias,
                       float* y) {
  const std::int64_t grain = std::max<std::int64_t>(1, kFlatGrain / columns);
  parallel_for(rows, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      loops().bias_gelu_row(columns, x + row * columns, bias, y + row * columns);
  });
}

void bias_gelu_backward(std::int64_t rows, std::int64_t columns, const float* x, const float* bias,
                        const float* dy, float* dx, float* dbias) {
  reduce_columns<1>(rows, columns, {dbias}, [&](std::int64_t row, auto partial) {
    const std::int64_t first = row * columns;
    loops().bias_gelu_backward_row(columns, x + first, bias, dy + first, dx + first, partial[0]);
  });
}

namespace reference {

double gelu(double z) {
  return 0.5 * z *
         (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (z + 0.044715 * z * z * z)));
}

}  // namespace reference
}  // namespace headway::kernels
