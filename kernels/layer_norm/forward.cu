// SPDX-License-Identifier: MIT
#include "kernels/cuda/device.cuh"
#include "kernels/layer_norm/launch.h"

namespace headway::kernels::cuda {

/// Loads x, or x + added as it is stored.
template <class T>
__device__ __forceinline__ void load_x(const LayerNormParameters& a, std::int64_t at,
                                       std::int64_t valid, float (&x)[kPack]) {
  load8(static_cast<const T*>(a.arrays.x) + at, a.packed, valid, x);
  if (!a.arrays.added) return;
  float added[kPack];
  load8(static_cast<const T*>(a.arrays.added) + at, a.packed, valid, added);
#pragma unroll
  for (int i = 0; i < kPack; ++i) x[i] = to_float(from_float<T>(x[i] + added[i]));
}

template <class T>
__device__ __forceinline__ void store_y(const LayerNormParameters& a, std::int64_t at,
                                        std::int64_t column, std::int64_t valid, float mean,
                                        float rstd, float (&x)[kPack]) {
  float gamma[kPack], beta[kPack];
  if (a.arrays.sum) store8(static_cast<T*>(a.arrays.sum) + at, a.packed, valid, x);
  load8(a.arrays.gamma + column, a.packed, valid, gamma);
  load8(a.arrays.beta + column, a.packed, valid, beta);
#pragma unroll
  for (int i = 0; i < kPack; ++i) x[i] = (x[i] - mean) * rstd * gamma[i] + beta[i];
  store8(static_cast<T*>(a.arrays.y) + at, a.packed, valid, x);
}

/// kGroup threads per row; each holds kPacks packs of eight columns.
template <class T, int kGroup, int kPacks>
__device__ void forward_in_registers(const LayerNormParameters& a) {
  constexpr int kGroups = 256 / kGroup;
  const std::int64_t n = a.shape.columns;
  const int own = threadIdx.x % kGroup;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kGroups + threadIdx.x / kGroup;
       row < a.shape.rows; row += static_cast<std::int64_t>(gridDim.x) * kGroups) {
    float x[kPacks][kPack];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      const std::int64_t column = (k * kGroup + own) * kPack;
      if (column >= n) break;
      load_x<T>(a, row * n + column, n - column, x[k]);
#pragma unroll
      for (int i = 0; i < kPack; ++i) sum += x[k][i];
    }
    const float mean = group_sum<kGroup>(sum) / static_cast<float>(n);
    float squares = 0;
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      const std::int64_t column = (k * kGroup + own) * kPack;
      if (column >= n) break;
#pragma unroll
      for (int i = 0; i < kPack; ++i)
        if (column + i < n) squares += (x[k][i] - mean) * (x[k][i] - mean);
    }
    const float variance = group_sum<kGroup>(squares) / static_cast<float>(n);
    const float rstd = 1.0F / sqrtf(variance + a.epsilon);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      const std::int64_t column = (k * kGroup + own) * kPack;
      if (column >= n) break;
      store_y<T>(a, row * n + column, column, n - column, mean, rstd, x[k]);
    }
    if (own == 0) {
      a.arrays.mean[row] = mean;
      a.arrays.rstd[row] = rstd;
    }
  }
}

/// A block per row; it reads memory once per sum.
template <class T>
__device__ void forward_naive(const LayerNormParameters& a) {
  const std::int64_t n = a.shape.columns;
  auto each = [&](std::int64_t row, const auto& body) {
    for (std::int64_t column = static_cast<std::int64_t>(threadIdx.x) * kPack; column < n;
         column += 256 * kPack) {
      float x[kPack];
      load_x<T>(a, row * n + column, n - column, x);
      body(column, x);
    }
  };
  for (std::int64_t row = blockIdx.x; row < a.shape.rows; row += gridDim.x) {
    float sum = 0;
    each(row, [&](std::int64_t, float(&x)[kPack]) {
      for (int i = 0; i < kPack; ++i) sum += x[i];
    });
    const float mean = group_sum<256>(sum) / static_cast<float>(n);
    float squares = 0;
    each(row, [&](std::int64_t column, float(&x)[kPack]) {
      for (int i = 0; i < kPack; ++i)
        if (column + i < n) squares += (x[i] - mean) * (x[i] - mean);
    });
    const float variance = group_sum<256>(squares) / static_cast<float>(n);
    const float rstd = 1.0F / sqrtf(variance + a.epsilon);
    each(row, [&](std::int64_t column, float(&x)[kPack]) {
      store_y<T>(a, row * n + column, column, n - column, mean, rstd, x);
    });
    if (threadIdx.x == 0) {
      a.arrays.mean[row] = mean;
      a.arrays.rstd[row] = rstd;
    }
  }
}

#define HEADWAY_LAYER_NORM(suffix, T)                                            \
  HEADWAY_KERNEL(layer_norm_forward_naive_##suffix, 256, LayerNormParameters) {  \
    forward_naive<T>(a);                                                         \
  }                                                                              \
  HEADWAY_KERNEL(layer_norm_forward_warp1_##suffix, 256, LayerNormParameters) {  \
    forward_in_registers<T, 32, 1>(a);                                           \
  }                                                                              \
  HEADWAY_KERNEL(layer_norm_forward_warp4_##suffix, 256, LayerNormParameters) {  \
    forward_in_registers<T, 32, 4>(a);                                           \
  }                                                                              \
  HEADWAY_KERNEL(layer_norm_forward_block1_##suffix, 256, LayerNormParameters) { \
    forward_in_registers<T, 256, 1>(a);                                          \
  }                                                                              \
  HEADWAY_KERNEL(layer_norm_forward_block4_##suffix, 256, LayerNormParameters) { \
    forward_in_registers<T, 256, 4>(a);                                          \
  }
HEADWAY_LAYER_NORM(f32, float)
HEADWAY_LAYER_NORM(f16, __half)
HEADWAY_LAYER_NORM(bf16, __nv_bfloat16)

}  // namespace headway::kernels::cuda
