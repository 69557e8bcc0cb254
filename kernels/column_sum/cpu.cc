// SPDX-License-Identifier: MIT
#include "kernels/column_sum/op.h"

#include "kernels/loops/loops.h"

namespace headway::kernels {

void column_sum(std::int64_t rows, std::int64_t columns, const float* x, float* sums) {
  reduce_columns<1>(rows, columns, {sums}, [&](std::int64_t row, auto partial) {
    loops().sgd_accumulate(columns, x + row * columns, partial[0]);
  });
}

}  // namespace headway::kernels
