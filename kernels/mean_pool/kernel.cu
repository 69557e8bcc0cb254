// SPDX-License-Identifier: MIT
#include "kernels/mean_pool/launch.h"

#include "kernels/column_sum/launch.h"
#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

/// A thread sums eight channels over every `down`-th position. Then the sums of the block's threads
/// with the same channels are joined, halving their number each time.
template <class T>
__device__ void mean_pool_forward_body(const MeanPoolParameters& a) {
  __shared__ float shared[kPack][kColumnThreads];
  const int down = kColumnThreads / a.across;
  const int y = threadIdx.x / a.across;
  const std::int64_t wide = static_cast<std::int64_t>(a.across) * kPack;
  const std::int64_t tiles = (a.channels + wide - 1) / wide;
  for (std::int64_t job = blockIdx.x; job < a.images * tiles; job += gridDim.x) {
    const std::int64_t image = job / tiles;
    const std::int64_t c = job % tiles * wide + threadIdx.x % a.across * kPack;
    const std::int64_t valid = a.channels - c;
    float sum[kPack] = {};
    if (valid > 0) {
      for (std::int64_t p = y; p < a.positions; p += down) {
        float x[kPack];
        load8(static_cast<const T*>(a.from) + (image * a.positions + p) * a.channels + c, a.packed,
              valid, x);
#pragma unroll
        for (int k = 0; k < kPack; ++k) sum[k] += x[k];
      }
    }
    __syncthreads();  // the previous values may still be read
#pragma unroll
    for (int k = 0; k < kPack; ++k) shared[k][threadIdx.x] = sum[k];
    for (int half = down / 2; half > 0; half /= 2) {
      __syncthreads();
      if (y < half) {
#pragma unroll
        for (int k = 0; k < kPack; ++k)
          shared[k][threadIdx.x] += shared[k][threadIdx.x + half * a.across];
      }
    }
    if (y == 0 && valid > 0) {
#pragma unroll
      for (int k = 0; k < kPack; ++k)
        sum[k] = shared[k][threadIdx.x] / static_cast<float>(a.positions);
      store8(static_cast<T*>(a.to) + image * a.channels + c, a.packed, valid, sum);
    }
  }
}

template <class T>
__device__ void mean_pool_backward_body(const MeanPoolParameters& a) {
  const std::int64_t packs = (a.channels + kPack - 1) / kPack;
  for (std::int64_t i = global_thread(); i < a.images * a.positions * packs;
       i += global_threads()) {
    const std::int64_t c = i % packs * kPack;
    const std::int64_t pixel = i / packs;
    const std::int64_t valid = a.channels - c;
    float dy[kPack];
    load8(static_cast<const T*>(a.from) + pixel / a.positions * a.channels + c, a.packed, valid,
          dy);
#pragma unroll
    for (int k = 0; k < kPack; ++k) dy[k] /= static_cast<float>(a.positions);
    store8(static_cast<T*>(a.to) + pixel * a.channels + c, a.packed, valid, dy);
  }
}

HEADWAY_KERNEL_PER_FORMAT(mean_pool_forward, 256, MeanPoolParameters, mean_pool_forward_body)
HEADWAY_KERNEL_PER_FORMAT(mean_pool_backward, 256, MeanPoolParameters, mean_pool_backward_body)

}  // namespace headway::kernels::cuda
