// SPDX-License-Identifier: MIT
#include "kernels/column_sum/columns.cuh"
#include "kernels/layer_norm/launch.h"

namespace headway::kernels::cuda {

/// Loads x normalised and dy of eight columns; both are 0 beyond the last column.
template <class T>
__device__ __forceinline__ void load_pair(const LayerNormParameters& a, std::int64_t at,
                                          std::int64_t valid, float mean, float rstd,
                                          float (&normal)[kPack], float (&dy)[kPack]) {
  load8(static_cast<const T*>(a.arrays.x) + at, a.packed, valid, normal);
  load8(static_cast<const T*>(a.arrays.dy) + at, a.packed, valid, dy);
#pragma unroll
  for (int i = 0; i < kPack; ++i) normal[i] = i < valid ? (normal[i] - mean) * rstd : 0.0F;
}

template <class T>
__device__ __forceinline__ void store_dx(const LayerNormParameters& a, std::int64_t at,
                                         std::int64_t column, std::int64_t valid, float rstd,
                                         float first, float second, const float (&normal)[kPack],
                                         const float (&dy)[kPack]) {
  float gamma[kPack];
  float dx[kPack] = {};
  load8(a.arrays.gamma + column, a.packed, valid, gamma);
  if (a.arrays.dsum) load8(static_cast<const T*>(a.arrays.dsum) + at, a.packed, valid, dx);
#pragma unroll
  for (int i = 0; i < kPack; ++i) dx[i] += rstd * (dy[i] * gamma[i] - first - normal[i] * second);
  store8(static_cast<T*>(a.arrays.dx) + at, a.packed, valid, dx);
}

/// Writes a block's sums over its rows: groups of threads have the same columns, and add in turn.
template <int kGroup, int kPacks>
__device__ void write_parts(const LayerNormParameters& a, float (&sums)[2][kPacks][kPack]) {
  constexpr int kGroups = 256 / kGroup;
  const std::int64_t n = a.shape.columns;
  const int own = threadIdx.x % kGroup;
  float* to = a.arrays.scratch + static_cast<std::int64_t>(blockIdx.x) * 2 * n;
  if constexpr (kGroups == 1) {
#pragma unroll
    for (int k = 0; k < kPacks; ++k)
#pragma unroll
      for (int i = 0; i < kPack; ++i)
        if (const std::int64_t c = (k * kGroup + own) * kPack + i; c < n) {
          to[c] = sums[0][k][i];
          to[n + c] = sums[1][k][i];
        }
  } else {
    __shared__ float shared[2][kGroup * kPacks * kPack];
    for (int turn = 0; turn < kGroups; ++turn) {
      __syncthreads();
      if (static_cast<int>(threadIdx.x) / kGroup != turn) continue;
#pragma unroll
      for (int k = 0; k < kPacks; ++k)
#pragma unroll
        for (int i = 0; i < kPack; ++i) {
          const int c = (k * kGroup + own) * kPack + i;
#pragma unroll
          for (int s = 0; s < 2; ++s)
            shared[s][c] = sums[s][k][i] + (turn > 0 ? shared[s][c] : 0.0F);
        }
    }
    __syncthreads();
    for (std::int64_t c = threadIdx.x; c < n; c += blockDim.x) {
      to[c] = shared[0][c];
      to[n + c] = shared[1][c];
    }
  }
}

template <class T, int kGroup, int kPacks>
__device__ void backward_in_registers(const LayerNormParameters& a) {
  constexpr int kGroups = 256 / kGroup;
  const std::int64_t n = a.shape.columns;
  const int own = threadIdx.x % kGroup;
  float sums[2][kPacks][kPack] = {};
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kGroups + threadIdx.x / kGroup;
       row < a.shape.rows; row += static_cast<std::int64_t>(gridDim.x) * kGroups) {
    const float mean = a.arrays.mean[row];
    const float rstd = a.arrays.rstd[row];
    float normal[kPacks][kPack], dy[kPacks][kPack];
    float first = 0;
    float second = 0;
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      const std::int64_t column = (k * kGroup + own) * kPack;
      if (column >= n) break;
      load_pair<T>(a, row * n + column, n - column, mean, rstd, normal[k], dy[k]);
      float gamma[kPack];
      load8(a.arrays.gamma + column, a.packed, n - column, gamma);
#pragma unroll
      for (int i = 0; i < kPack; ++i) {
        first += dy[k][i] * gamma[i];
        second += dy[k][i] * gamma[i] * normal[k][i];
        sums[0][k][i] += dy[k][i] * normal[k][i];
        sums[1][k][i] += dy[k][i];
      }
    }
    first = group_sum<kGroup>(first) / static_cast<float>(n);
    second = group_sum<kGroup>(second) / static_cast<float>(n);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      const std::int64_t column = (k * kGroup + own) * kPack;
      if (column >= n) break;
      store_dx<T>(a, row * n + column, column, n - column, rstd, first, second, normal[k], dy[k]);
    }
  }
  write_parts<kGroup, kPacks>(a, sums);
}

/// dx only, a block per row.
template <class T>
__device__ void backward_naive(const LayerNormParameters& a) {
  const std::int64_t n = a.shape.columns;
  for (std::int64_t row = blockIdx.x; row < a.shape.rows; row += gridDim.x) {
    const float mean = a.arrays.mean[row];
    const float rstd = a.arrays.rstd[row];
    float normal[kPack], dy[kPack], gamma[kPack];
    float first = 0;
    float second = 0;
    for (std::int64_t column = static_cast<std::int64_t>(threadIdx.x) * kPack; column < n;
         column += 256 * kPack) {
      load_pair<T>(a, row * n + column, n - column, mean, rstd, normal, dy);
      load8(a.arrays.gamma + column, a.packed, n - column, gamma);
      for (int i = 0; i < kPack; ++i) {
        first += dy[i] * gamma[i];
        second += dy[i] * gamma[i] * normal[i];
      }
    }
    first = group_sum<256>(first) / static_cast<float>(n);
    second = group_sum<256>(second) / static_cast<float>(n);
    for (std::int64_t column = static_cast<std::int64_t>(threadIdx.x) * kPack; column < n;
         column += 256 * kPack) {
      load_pair<T>(a, row * n + column, n - column, mean, rstd, normal, dy);
      store_dx<T>(a, row * n + column, column, n - column, rstd, first, second, normal, dy);
    }
  }
}

/// dgamma and dbeta in a separate kernel from dx.
template <class T>
__device__ void parameters_body(const LayerNormParameters& a) {
  const ColumnPlace place(a.tiles);
  float sums[2][kPack] = {};
  for (std::int64_t row = place.row; row < a.tiles.rows; row += place.step) {
    float normal[kPack], dy[kPack];
    load_pair<T>(a, row * a.tiles.columns + place.column, place.valid, a.arrays.mean[row],
                 a.arrays.rstd[row], normal, dy);
#pragma unroll
    for (int i = 0; i < kPack; ++i) {
      sums[0][i] += dy[i] * normal[i];
      sums[1][i] += dy[i];
    }
  }
  write_column_parts<2>(a.tiles, place, sums, a.arrays.scratch);
}

#define HEADWAY_LAYER_NORM(suffix, T)                                             \
  HEADWAY_KERNEL(layer_norm_backward_naive_##suffix, 256, LayerNormParameters) {  \
    backward_naive<T>(a);                                                         \
  }                                                                               \
  HEADWAY_KERNEL(layer_norm_parameters_##suffix, 256, LayerNormParameters) {      \
    parameters_body<T>(a);                                                        \
  }                                                                               \
  HEADWAY_KERNEL(layer_norm_backward_warp1_##suffix, 256, LayerNormParameters) {  \
    backward_in_registers<T, 32, 1>(a);                                           \
  }                                                                               \
  HEADWAY_KERNEL(layer_norm_backward_warp4_##suffix, 256, LayerNormParameters) {  \
    backward_in_registers<T, 32, 4>(a);                                           \
  }                                                                               \
  HEADWAY_KERNEL(layer_norm_backward_block1_##suffix, 256, LayerNormParameters) { \
    backward_in_registers<T, 256, 1>(a);                                          \
  }                                                                               \
  HEADWAY_KERNEL(layer_norm_backward_block4_##suffix, 256, LayerNormParameters) { \
    backward_in_registers<T, 256, 4>(a);                                          \
  }
HEADWAY_LAYER_NORM(f32, float)
HEADWAY_LAYER_NORM(f16, __half)
HEADWAY_LAYER_NORM(bf16, __nv_bfloat16)

}  // namespace headway::kernels::cuda
