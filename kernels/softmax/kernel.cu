// SPDX-License-Identifier: MIT
#include "kernels/softmax/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

/// The packs of one row that one thread of kGroup handles: kPacks of them in registers, or (kPacks
/// = 0) any number, which are read again each time.
template <class T, int kGroup, int kPacks, int kArrays>
struct RowPart {
  static constexpr bool kHeld = kPacks > 0;
  const SoftmaxParameters& a;
  std::int64_t row;
  float held[kArrays][kHeld ? kPacks : 1][kPack];

  /// Calls body(column, valid, first, second); loads where needed. (With one array, `second` is
  /// `first`.)
  template <class Body>
  __device__ __forceinline__ void each(bool load, const Body& body) {
    const int own = threadIdx.x % kGroup;
    if constexpr (kHeld) {
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
        const std::int64_t column = (k * kGroup + own) * kPack;
        if (column >= a.columns) break;
        step(load, k, column, body);
      }
    } else {
#pragma unroll 1
      for (std::int64_t column = static_cast<std::int64_t>(own) * kPack; column < a.columns;
           column += kGroup * kPack)
        step(true, 0, column, body);
    }
  }

 private:
  template <class Body>
  __device__ __forceinline__ void step(bool load, int k, std::int64_t column, const Body& body) {
    const std::int64_t at = row * a.columns + column;
    const std::int64_t valid = a.columns - column;
    if (load) {
      load8(static_cast<const T*>(a.first) + at, a.packed, valid, held[0][k]);
      if constexpr (kArrays > 1)
        load8(static_cast<const T*>(a.second) + at, a.packed, valid, held[kArrays - 1][k]);
    }
    body(at, valid, held[0][k], held[kArrays - 1][k]);
  }
};

template <int kGroup, class Body>
__device__ void for_each_row(const SoftmaxParameters& a, const Body& body) {
  constexpr int kGroups = 256 / kGroup;
  for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kGroups + threadIdx.x / kGroup;
       row < a.rows; row += static_cast<std::int64_t>(gridDim.x) * kGroups)
    body(row);
}

template <class T, int kGroup, int kPacks, bool kLog>
__device__ void softmax_rows(const SoftmaxParameters& a) {
  for_each_row<kGroup>(a, [&](std::int64_t row) {
    RowPart<T, kGroup, kPacks, 1> part{a, row, {}};
    using Eight = float(&)[kPack];
    float largest = -INFINITY;
    part.each(true, [&](std::int64_t, std::int64_t valid, Eight x, Eight) {
#pragma unroll
      for (int i = 0; i < kPack; ++i)
        if (i < valid) largest = fmaxf(largest, x[i]);
    });
    largest = group_largest<kGroup>(largest);
    float sum = 0;
    part.each(false, [&](std::int64_t, std::int64_t valid, Eight x, Eight) {
#pragma unroll
      for (int i = 0; i < kPack; ++i)
        if (i < valid) sum += expf(x[i] - largest);
    });
    sum = group_sum<kGroup>(sum);
    const float scale = 1.0F / sum;
    const float shift = largest + logf(sum);
    part.each(false, [&](std::int64_t at, std::int64_t valid, Eight x, Eight) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) x[i] = kLog ? x[i] - shift : expf(x[i] - largest) * scale;
      store8(static_cast<T*>(a.out) + at, a.packed, valid, x);
    });
  });
}

template <class T, int kGroup, int kPacks, bool kLog>
__device__ void gradient_rows(const SoftmaxParameters& a) {
  for_each_row<kGroup>(a, [&](std::int64_t row) {
    RowPart<T, kGroup, kPacks, 2> part{a, row, {}};
    using Eight = float(&)[kPack];
    float sum = 0;
    part.each(true, [&](std::int64_t, std::int64_t, Eight y, Eight dy) {
#pragma unroll
      for (int i = 0; i < kPack; ++i) sum += kLog ? dy[i] : y[i] * dy[i];
    });
    sum = group_sum<kGroup>(sum);
    part.each(false, [&](std::int64_t at, std::int64_t valid, Eight y, Eight dy) {
#pragma unroll
      for (int i = 0; i < kPack; ++i)
        dy[i] = kLog ? dy[i] - expf(y[i]) * sum : y[i] * (dy[i] - sum);
      store8(static_cast<T*>(a.out) + at, a.packed, valid, dy);
    });
  });
}

#define HEADWAY_SOFTMAX(rows, suffix, T, kGroup, kPacks)                           \
  HEADWAY_KERNEL(softmax_forward_##rows##_##suffix, 256, SoftmaxParameters) {      \
    softmax_rows<T, kGroup, kPacks, false>(a);                                     \
  }                                                                                \
  HEADWAY_KERNEL(log_softmax_forward_##rows##_##suffix, 256, SoftmaxParameters) {  \
    softmax_rows<T, kGroup, kPacks, true>(a);                                      \
  }                                                                                \
  HEADWAY_KERNEL(softmax_backward_##rows##_##suffix, 256, SoftmaxParameters) {     \
    gradient_rows<T, kGroup, kPacks, false>(a);                                    \
  }                                                                                \
  HEADWAY_KERNEL(log_softmax_backward_##rows##_##suffix, 256, SoftmaxParameters) { \
    gradient_rows<T, kGroup, kPacks, true>(a);                                     \
  }
#define HEADWAY_SOFTMAX_PER_FORMAT(rows, kGroup, kPacks) \
  HEADWAY_SOFTMAX(rows, f32, float, kGroup, kPacks)      \
  HEADWAY_SOFTMAX(rows, f16, __half, kGroup, kPacks)     \
  HEADWAY_SOFTMAX(rows, bf16, __nv_bfloat16, kGroup, kPacks)

HEADWAY_SOFTMAX_PER_FORMAT(warp, 32, 4)
HEADWAY_SOFTMAX_PER_FORMAT(block, 256, 4)
HEADWAY_SOFTMAX_PER_FORMAT(long, 256, 0)

}  // namespace headway::kernels::cuda
