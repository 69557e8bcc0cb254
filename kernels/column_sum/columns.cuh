// SPDX-License-Identifier: MIT
// The device's side of ColumnTiles (column_sum.h).
#pragma once

#include "kernels/column_sum/launch.h"
#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

/// A thread's place: its first column, how many of the eight there are, its first row and the step to the next.
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
    if (valid <= 0) row = t.rows;  // nothing to do, but barriers to keep
  }
};

/// Adds what the block's threads have for the same columns, and writes it to the block's part of the scratch
/// memory. All threads of the block must call it.
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
