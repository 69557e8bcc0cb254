// SPDX-License-Identifier: MIT
#include "kernels/embedding/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

template <class T>
__device__ void forward_body(const EmbeddingParameters& a) {
  const std::int64_t n = a.shape.columns;
  const std::int64_t packs = (n + kPack - 1) / kPack;
  for (std::int64_t i = global_thread(); i < packs * a.shape.tokens; i += global_threads()) {
    const std::int64_t at = i / packs;
    const std::int64_t column = i % packs * kPack;
    const std::int32_t token = a.arrays.tokens[at];
    float x[kPack] = {};
    if (token >= 0) {
      load8(static_cast<const T*>(a.arrays.table) + token * n + column, a.packed, n - column, x);
      if (a.arrays.positions) {
        float position[kPack];
        load8(static_cast<const T*>(a.arrays.positions) + at % a.shape.length * n + column,
              a.packed, n - column, position);
#pragma unroll
        for (int k = 0; k < kPack; ++k) x[k] += position[k];
      }
    }
    store8(static_cast<T*>(a.arrays.y) + at * n + column, a.packed, n - column, x);
  }
}

template <class T>
__device__ void atomic_body(const EmbeddingParameters& a) {
  const std::int64_t n = a.shape.columns;
  for (std::int64_t i = global_thread(); i < a.shape.tokens * n; i += global_threads()) {
    const std::int32_t token = a.arrays.tokens[i / n];
    if (token >= 0)
      atomicAdd(a.arrays.dtable + token * n + i % n,
                to_float(static_cast<const T*>(a.arrays.dy)[i]));
  }
}

/// The block's threads look at 1024 tokens at a time, and store the positions of the block's entry
/// in order.
template <class T>
__device__ void ordered_body(const EmbeddingParameters& a) {
  constexpr int kLook = 1024;
  __shared__ std::int32_t tokens[kLook];
  const std::int64_t n = a.shape.columns;
  for (std::int64_t entry = blockIdx.x; entry < a.shape.entries; entry += gridDim.x) {
    for (std::int64_t columns = 0; columns < n; columns += blockDim.x) {
      const std::int64_t column = columns + threadIdx.x;
      float sum = 0;
      for (std::int64_t first = 0; first < a.shape.tokens; first += kLook) {
        const std::int64_t count = a.shape.tokens - first < kLook ? a.shape.tokens - first : kLook;
        __syncthreads();
        for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x)
          tokens[i] = a.arrays.tokens[first + i];
        __syncthreads();
        if (column >= n) continue;
        for (std::int64_t i = 0; i < count; ++i)
          if (tokens[i] == entry)
            sum += to_float(static_cast<const T*>(a.arrays.dy)[(first + i) * n + column]);
      }
      if (column < n) a.arrays.dtable[entry * n + column] = sum;
    }
  }
}

/// One thread per column of a position adds the sequences in order.
template <class T>
__device__ void positions_body(const EmbeddingParameters& a) {
  const std::int64_t size = a.shape.length * a.shape.columns;
  for (std::int64_t i = global_thread(); i < size; i += global_threads()) {
    float sum = 0;
    for (std::int64_t at = i / a.shape.columns; at < a.shape.tokens; at += a.shape.length)
      if (a.arrays.tokens[at] >= 0)
        sum += to_float(
            static_cast<const T*>(a.arrays.dy)[at * a.shape.columns + i % a.shape.columns]);
    a.arrays.dpositions[i] = sum;
  }
}

HEADWAY_KERNEL_PER_FORMAT(embedding_forward, 256, EmbeddingParameters, forward_body)
HEADWAY_KERNEL_PER_FORMAT(embedding_atomic, 256, EmbeddingParameters, atomic_body)
HEADWAY_KERNEL_PER_FORMAT(embedding_ordered, 256, EmbeddingParameters, ordered_body)
HEADWAY_KERNEL_PER_FORMAT(embedding_positions, 256, EmbeddingParameters, positions_body)

HEADWAY_KERNEL(embedding_zero, 256, EmbeddingParameters) {
  for (std::int64_t i = global_thread(); i < a.shape.entries * a.shape.columns;
       i += global_threads())
    a.arrays.dtable[i] = 0;
}

}  // namespace headway::kernels::cuda
