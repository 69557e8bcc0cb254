// SPDX-License-Identifier: MIT
#include "kernels/power_sgd/launch.h"

#include "kernels/cuda/table.cuh"

namespace headway::kernels::cuda {

/// Number of columns of P and Q that are in registers together. For more columns, M is read again,
/// from a cache.
constexpr int kAtOnce = 4;

/// Computes four rows of P by a group of threads, a warp or the block, all of which must call it. Q
/// is loaded once for the four rows.
template <int kGroup>
__device__ __forceinline__ void power_rows(const PowerStep& by, const PowerEntry& entry,
                                           std::int64_t row) {
  const PowerMatrix& m = entry.matrix;
  const int lane = threadIdx.x % kGroup;
  for (int first = 0; first < by.rank; first += kAtOnce) {
    float sums[kPowerRows][kAtOnce] = {};
    for (std::int64_t c = lane * kQuad; c < m.columns; c += kGroup * kQuad) {
      const std::int64_t valid = m.columns - c;
      const bool packed = entry.packed && valid >= kQuad;
      float q[kAtOnce][kQuad] = {};
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
        if (first + k < by.rank)
          load4(by.second + m.q + (first + k) * m.columns + c, packed, valid, q[k]);
#pragma unroll
      for (int r = 0; r < kPowerRows; ++r) {
        if (row + r >= m.rows) continue;
        float values[kQuad];
        load4(by.flat + m.offset + (row + r) * m.columns + c, packed, valid, values);
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k)
#pragma unroll
          for (int i = 0; i < kQuad; ++i) sums[r][k] += values[i] * q[k][i];
      }
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      if (first + k >= by.rank) break;  // all threads break together
      float* const column = by.p + m.p + (first + k) * m.rows + row;
#pragma unroll
      for (int r = 0; r < kPowerRows; ++r) {
        const float sum = group_sum<kGroup>(sums[r][k]);
        if (lane == 0 && row + r < m.rows) column[r] = sum;
      }
    }
  }
}

__device__ inline void power_p_body(const PowerStep& by, const PowerEntry* entries) {
  for_each_entry_chunk(by, entries, [&](const PowerEntry& entry, std::int64_t, std::int64_t chunk) {
    if (entry.matrix.columns >= kPowerWideColumns)
      power_rows<kTableThreads>(by, entry, chunk * kPowerRows);
    else
      power_rows<kLanes>(by, entry, (chunk * kPowerWarps + threadIdx.x / kLanes) * kPowerRows);
  });
}

/// Sum of a[i]·b[i], returned to all threads of the block.
__device__ __forceinline__ float product_of(const float* a, const float* b, std::int64_t count) {
  float sum = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += kTableThreads) sum += a[i] * b[i];
  return group_sum<kTableThreads>(sum);
}

/// Subtracts from `count` columns, starting at `others`, their projections on `column`. It computes
/// all products first, then all differences, so that the column is read only twice.
__device__ __forceinline__ void subtract_column(const float* column, float* others,
                                                std::int64_t rows, int count) {
  float along[kAtOnce] = {};
  for (std::int64_t i = threadIdx.x; i < rows; i += kTableThreads)
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      if (k < count) along[k] += column[i] * others[k * rows + i];
#pragma unroll
  for (int k = 0; k < kAtOnce; ++k)
    if (k < count) along[k] = group_sum<kTableThreads>(along[k]);
  for (std::int64_t i = threadIdx.x; i < rows; i += kTableThreads)
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      if (k < count) others[k * rows + i] -= along[k] * column[i];
}

/// Gram-Schmidt by one block. A finished column is subtracted from all later ones. In total each
/// column loses the same as in kernels/power_sgd/cpu.cc, in the same order. A thread has the same
/// rows of all columns, so that threads share only sums.
__device__ inline void orthonormalise(float* p, std::int64_t rows, int rank) {
  __shared__ float before[kMostPowerRank];
  for (int k = 0; k < rank; ++k) {
    const float squares = product_of(p + k * rows, p + k * rows, rows);
    if (threadIdx.x == 0) before[k] = squares;
  }
  for (int k = 0; k < rank; ++k) {
    float* const column = p + k * rows;
    float squares = product_of(column, column, rows);  // and a barrier after before[] was written
    if (squares <= kPowerLost * before[k]) {
      if (squares == 0 && threadIdx.x == k % rows % kTableThreads) column[k % rows] = 1;
      for (int earlier = 0; earlier < k; ++earlier)
        subtract_column(p + earlier * rows, column, rows, 1);
      squares = product_of(column, column, rows);
    }
    const float scale = 1.0F / (sqrtf(squares) + 1e-8F);
    for (std::int64_t i = threadIdx.x; i < rows; i += kTableThreads) column[i] *= scale;
    for (int next = k + 1; next < rank; next += kAtOnce)
      subtract_column(column, p + next * rows, rows, rank - next);
  }
}

__device__ inline void power_orthonormal_body(const PowerStep& by, const PowerEntry* entries) {
  for_each_entry_chunk(by, entries, [&](const PowerEntry& entry, std::int64_t, std::int64_t) {
    orthonormalise(by.p + entry.matrix.p, entry.matrix.rows, by.rank);
  });
}

/// Computes 32 columns of Q: eight threads side by side have four columns each, and 32 threads per
/// column share the rows.
__device__ inline void power_q_body(const PowerStep& by, const PowerEntry* entries) {
  constexpr int kAcross = kPowerColumns / kQuad;
  constexpr int kDown = kTableThreads / kAcross;
  // The row is eight words longer than the number of threads, so that the reads of the last sum use
  // different banks.
  __shared__ float parts[kAtOnce * kQuad][kTableThreads + kAcross];
  for_each_entry_chunk(by, entries, [&](const PowerEntry& entry, std::int64_t, std::int64_t chunk) {
    const PowerMatrix& m = entry.matrix;
    const std::int64_t c = chunk * kPowerColumns + threadIdx.x % kAcross * kQuad;
    const std::int64_t valid = m.columns - c;
    const bool packed = entry.packed && valid >= kQuad;
    for (int first = 0; first < by.rank; first += kAtOnce) {
      float sums[kAtOnce][kQuad] = {};
      for (std::int64_t row = threadIdx.x / kAcross; row < m.rows; row += kDown) {
        float values[kQuad];
        load4(by.flat + m.offset + row * m.columns + c, packed, valid, values);
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) {
          const float weight = first + k < by.rank ? by.p[m.p + (first + k) * m.rows + row] : 0.0F;
#pragma unroll
          for (int i = 0; i < kQuad; ++i) sums[k][i] += weight * values[i];
        }
      }
      __syncthreads();  // the previous parts may still be read
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k)
#pragma unroll
        for (int i = 0; i < kQuad; ++i) parts[k * kQuad + i][threadIdx.x] = sums[k][i];
      __syncthreads();
      const int k = threadIdx.x / kPowerColumns;
      const int column = threadIdx.x % kPowerColumns;
      if (k >= kAtOnce || first + k >= by.rank) continue;
      if (chunk * kPowerColumns + column >= m.columns) continue;
      float sum = 0;
      for (int y = 0; y < kDown; ++y)
        sum += parts[k * kQuad + column % kQuad][y * kAcross + column / kQuad];
      by.second[m.q + (first + k) * m.columns + chunk * kPowerColumns + column] = sum;
    }
  });
}

/// Computes a tile of P·Q': a warp has four rows, a lane has four columns of them.
__device__ inline void power_restore_body(const PowerStep& by, const PowerEntry* entries) {
  for_each_entry_chunk(by, entries, [&](const PowerEntry& entry, std::int64_t, std::int64_t chunk) {
    const PowerMatrix& m = entry.matrix;
    const std::int64_t across = (m.columns + kPowerTileColumns - 1) / kPowerTileColumns;
    const std::int64_t row = chunk / across * kPowerTileRows + threadIdx.x / kLanes * kPowerRows;
    const std::int64_t c = chunk % across * kPowerTileColumns + threadIdx.x % kLanes * kQuad;
    const std::int64_t valid = m.columns - c;
    if (valid <= 0) return;
    const bool packed = entry.packed && valid >= kQuad;
    float values[kPowerRows][kQuad] = {};
    for (int k = 0; k < by.rank; ++k) {
      float q[kQuad];
      load4(by.second + m.q + k * m.columns + c, packed, valid, q);
#pragma unroll
      for (int r = 0; r < kPowerRows; ++r) {
        const float weight = row + r < m.rows ? by.p[m.p + k * m.rows + row + r] : 0.0F;
#pragma unroll
        for (int i = 0; i < kQuad; ++i) values[r][i] += weight * q[i];
      }
    }
#pragma unroll
    for (int r = 0; r < kPowerRows; ++r) {
      if (row + r >= m.rows) continue;
      const std::int64_t at = m.offset + (row + r) * m.columns + c;
      float error[kQuad];
      load4(by.flat + at, packed, valid, error);
#pragma unroll
      for (int i = 0; i < kQuad; ++i) error[i] -= values[r][i];
      store4(by.error + at, packed, valid, error);
      store4(by.flat + at, packed, valid, values[r]);
    }
  });
}

template <std::size_t kBytes>
using PowerTable = Table<PowerStep, PowerEntry, kBytes>;

#define HEADWAY_POWER_KERNEL(name, body)                            \
  HEADWAY_KERNEL(name##_small, 256, PowerTable<kSmallParameters>) { \
    body(a.by, a.tensors);                                          \
  }                                                                 \
  HEADWAY_KERNEL(name##_large, 256, PowerTable<kLargeParameters>) { \
    body(a.by, a.tensors);                                          \
  }

HEADWAY_POWER_KERNEL(power_p, power_p_body)
HEADWAY_POWER_KERNEL(power_orthonormal, power_orthonormal_body)
HEADWAY_POWER_KERNEL(power_q, power_q_body)
HEADWAY_POWER_KERNEL(power_restore, power_restore_body)

}  // namespace headway::kernels::cuda
