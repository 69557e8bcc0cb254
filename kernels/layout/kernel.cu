// SPDX-License-Identifier: MIT
#include "kernels/layout/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

template <class T>
__device__ void naive_body(const LayoutParameters& a) {
  const T* from = static_cast<const T*>(a.from);
  T* to = static_cast<T*>(a.to);
  const std::int64_t size = a.rows * a.columns;
  for (std::int64_t i = global_thread(); i < a.images * size; i += global_threads()) {
    const std::int64_t within = i % size;
    to[i] = from[i - within + within % a.rows * a.columns + within / a.rows];
  }
}

template <class T>
__device__ void tiled_body(const LayoutParameters& a) {
  constexpr int kTile = 32;
  constexpr int kDown = 256 / kTile;
  __shared__ T tile[kTile][kTile + 1];  // padded: a column's elements lie in different banks
  const std::int64_t tiles_down = (a.rows + kTile - 1) / kTile;
  const std::int64_t tiles_across = (a.columns + kTile - 1) / kTile;
  const int x = threadIdx.x % kTile;
  const int y = threadIdx.x / kTile;
  for (std::int64_t t = blockIdx.x; t < a.images * tiles_down * tiles_across; t += gridDim.x) {
    const std::int64_t image = t / (tiles_down * tiles_across);
    const std::int64_t row = t / tiles_across % tiles_down * kTile;
    const std::int64_t column = t % tiles_across * kTile;
    const T* from = static_cast<const T*>(a.from) + image * a.rows * a.columns;
    T* to = static_cast<T*>(a.to) + image * a.rows * a.columns;
    for (int k = y; k < kTile; k += kDown)
      if (row + k < a.rows && column + x < a.columns)
        tile[k][x] = from[(row + k) * a.columns + column + x];
    __syncthreads();
    for (int k = y; k < kTile; k += kDown)
      if (column + k < a.columns && row + x < a.rows)
        to[(column + k) * a.rows + row + x] = tile[x][k];
    __syncthreads();
  }
}

HEADWAY_KERNEL(layout_naive_32, 256, LayoutParameters) {
  naive_body<std::uint32_t>(a);
}
HEADWAY_KERNEL(layout_naive_16, 256, LayoutParameters) {
  naive_body<std::uint16_t>(a);
}
HEADWAY_KERNEL(layout_tiled_32, 256, LayoutParameters) {
  tiled_body<std::uint32_t>(a);
}
HEADWAY_KERNEL(layout_tiled_16, 256, LayoutParameters) {
  tiled_body<std::uint16_t>(a);
}

}  // namespace headway::kernels::cuda
