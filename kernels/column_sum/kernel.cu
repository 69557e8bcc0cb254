// SPDX-License-Identifier: MIT
#include "kernels/column_sum/columns.cuh"

namespace headway::kernels::cuda {

template <class T>
__device__ void column_sum_body(const ColumnSumParameters& a) {
  const ColumnPlace place(a.tiles);
  float sums[1][kPack] = {};
  for (std::int64_t row = place.row; row < a.tiles.rows; row += place.step) {
    float x[kPack];
    load8(static_cast<const T*>(a.x) + row * a.tiles.columns + place.column, a.tiles.packed,
          place.valid, x);
#pragma unroll
    for (int i = 0; i < kPack; ++i) sums[0][i] += x[i];
  }
  write_column_parts<1>(a.tiles, place, sums, a.scratch);
}

HEADWAY_KERNEL_PER_FORMAT(column_sum, 256, ColumnSumParameters, column_sum_body)

HEADWAY_KERNEL(column_finish, 256, ColumnFinishParameters) {
  for (std::int64_t i = global_thread(); i < a.columns * a.sums; i += global_threads()) {
    double sum = 0;
    for (int part = 0; part < a.parts; ++part) sum += a.scratch[part * a.columns * a.sums + i];
    a.results[i / a.columns][i % a.columns] = static_cast<float>(sum);
  }
}

}  // namespace headway::kernels::cuda
