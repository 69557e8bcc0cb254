// SPDX-License-Identifier: MIT
// Device code of ColumnTiles (launch.h).
#pragma once

#include "kernels/column_sum/launch.h"
#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

/// The columns and rows of a thread: its first column, how many of its eight columns exist, its
/// first row, and the step to the next.
struct ColumnPlace {
  std::int64_t column;
  std::int64_t valid;
  std::int64_t row;
  std::int64_t step;

  __device__ explicit ColumnPlace(const ColumnTiles& t) {
    const int down = kColumnThreads / t.across;
    column = (static_cast<std::int64_t>(blockIdx.x) * t.across + threadIdx.x % t.across) * kPack;
    valid = t.columns - column;
    row = static_cast<std::int64_t>(blockIdx.y) * down + threadIdx.x / t.across;
    step = static_cast<std::int64_t>(gridDim.y) * down;
    if (valid <= 0) row = t.rows;  // no work, but it must reach the barriers
  }
};

/// Adds the sums of the block's threads that have the same columns, and writes the results to the
/// block's part of the scratch memory. All threads of the block must call it.
template <int kSums>
__device__ void write_column_parts(const ColumnTiles& t, const ColumnPlace& place,
                                   float (&sums)[kSums][kPack], float* scratch) {
  __shared__ float shared[kPack][kColumnThreads];
  const int down = kColumnThreads / t.across;
  const int y = threadIdx.x / t.across;
  for (int s = 0; s < kSums; ++s) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kPack; ++i) shared[i][threadIdx.x] = sums[s][i];
    for (int half = down / 2; half > 0; half /= 2) {
      __syncthreads();
      if (y < half) {
#pragma unroll
        for (int i = 0; i < kPack; ++i)
          shared[i][threadIdx.x] += shared[i][threadIdx.x + half * t.across];
      }
    }
    if (y == 0) {
      float* to = scratch + (static_cast<std::int64_t>(blockIdx.y) * kSums + s) * t.columns;
#pragma unroll
      for (int i = 0; i < kPack; ++i)
        if (i < place.valid) to[place.column + i] = shared[i][threadIdx.x];
    }
  }
}

}  // namespace headway::kernels::cuda
