// SPDX-License-Identifier: MIT
#include "kernels/picture_resize/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

/// The source pixels of one pixel of the result, along one axis.
struct PixelTaps {
  float centre;
  float reach;
  int first;
  int last;
};

__device__ __forceinline__ PixelTaps pixel_taps(int size, float begin, float extent, int count,
                                                int i) {
  const float scale = extent / static_cast<float>(count);
  PixelTaps taps;
  taps.reach = fmaxf(1.0F, scale);
  taps.centre = plus(plus(begin, times(plus(static_cast<float>(i), 0.5F), scale)), -0.5F);
  const int first = static_cast<int>(floorf(plus(taps.centre, -taps.reach))) + 1;
  const int last = static_cast<int>(ceilf(plus(taps.centre, taps.reach))) - 1;
  taps.first = first < 0 ? 0 : first < size ? first : size - 1;
  taps.last = last < taps.first ? taps.first : last < size ? last : size - 1;
  return taps;
}
__device__ __forceinline__ PixelTaps column_taps(const PicturePart& part, int width, int x) {
  return pixel_taps(part.width, part.left, part.columns, width, x);
}
__device__ __forceinline__ PixelTaps row_taps(const PicturePart& part, int height, int y) {
  return pixel_taps(part.height, part.top, part.rows, height, y < height ? y : height - 1);
}
__device__ __forceinline__ float tap_weight(const PixelTaps& taps, int at) {
  const float distance = fabsf(plus(static_cast<float>(at), -taps.centre));
  return fmaxf(1e-6F, plus(1.0F, -(distance / taps.reach)));
}

/// Adds three weighted channels.
template <class T>
__device__ __forceinline__ void add_weighted(float (&sums)[3], float weight, const T* rgb) {
#pragma unroll
  for (int c = 0; c < 3; ++c) sums[c] = plus(sums[c], times(weight, static_cast<float>(rgb[c])));
}

__device__ __forceinline__ unsigned to_pixel_value(float sum, float weights) {
  const float value = plus(sum / weights, 0.5F);
  return static_cast<unsigned>(value < 0.0F ? 0.0F : value > 255.0F ? 255.0F : value);
}

/// Stores a lane's pixel (red in the lowest byte) to row[3 * x]; where `packed`, four lanes write
/// three words.
__device__ __forceinline__ void store_pixels(std::uint8_t* row, int x, unsigned pixel, bool packed,
                                             bool valid) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const unsigned next = __shfl_sync(kFullWarp, pixel, (lane + 1) % kLanes);
  if (!valid) return;
  if (packed) {
    const int word = x % 4;  // index of the word; the fourth lane writes none
    if (word == 3) return;
    reinterpret_cast<unsigned*>(row)[(x - word) / 4 * 3 + word] =
        pixel >> (8 * word) | next << (24 - 8 * word);
  } else {
#pragma unroll
    for (int c = 0; c < 3; ++c) row[3 * x + c] = static_cast<std::uint8_t>(pixel >> (8 * c));
  }
}

/// Rows of the picture that are in shared memory at a time. A warp narrows every eighth of them,
/// and computes their weights once.
inline constexpr int kResizeRowsOfWarp = 4;
inline constexpr int kResizeRows = kResizeTileHeight * kResizeRowsOfWarp;

/// Sums over columns for the rows `row`, `row` + 8 and so on, up to `last`; returns the sum of the
/// weights.
__device__ __forceinline__ float narrow_rows(const std::uint8_t* picture, int width,
                                             const PixelTaps& columns, int row, int last,
                                             float (&sums)[kResizeRowsOfWarp][3]) {
  const std::uint8_t* rgb = picture + 3 * (static_cast<std::int64_t>(row) * width + columns.first);
  const std::int64_t down = std::int64_t{3 * kResizeTileHeight} * width;
  float weights = 0;
  for (int at = columns.first; at <= columns.last; ++at, rgb += 3) {
    const float weight = tap_weight(columns, at);
    weights = plus(weights, weight);
#pragma unroll
    for (int k = 0; k < kResizeRowsOfWarp; ++k)
      if (row + k * kResizeTileHeight <= last) add_weighted(sums[k], weight, rgb + k * down);
  }
  return weights;
}

HEADWAY_KERNEL(resize_pictures, 256, ResizePicturesParameters) {
  __shared__ float narrow[kResizeRows][kResizeTileWidth][3];
  const ResizePictures& op = a.op;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int warp = static_cast<int>(threadIdx.x) / kLanes;
  for (std::int64_t image = blockIdx.y; image < op.images; image += gridDim.y) {
    const PicturePart part = op.parts[image];
    for (unsigned tile = blockIdx.x; tile < a.tiles; tile += gridDim.x) {
      const int x = static_cast<int>(tile % a.tiles_across) * kResizeTileWidth + lane;
      const int top = static_cast<int>(tile / a.tiles_across) * kResizeTileHeight;
      const int y = top + warp;
      // Threads beyond an edge repeat the last pixel's work.
      const int inside = x < op.width ? x : op.width - 1;
      const PixelTaps columns =
          column_taps(part, op.width, part.mirrored ? op.width - 1 - inside : inside);
      const PixelTaps rows = row_taps(part, op.height, y);
      const int last = row_taps(part, op.height, top + kResizeTileHeight - 1).last;
      float value[3] = {};
      float row_weights = 0;
      float column_weights = 0;
      for (int first = row_taps(part, op.height, top).first; first <= last; first += kResizeRows) {
        float sums[kResizeRowsOfWarp][3] = {};
        column_weights =
            narrow_rows(op.from + part.offset, part.width, columns, first + warp, last, sums);
        __syncthreads();  // the previous rows may still be read
#pragma unroll
        for (int k = 0; k < kResizeRowsOfWarp; ++k)
#pragma unroll
          for (int c = 0; c < 3; ++c) narrow[warp + k * kResizeTileHeight][lane][c] = sums[k][c];
        __syncthreads();
        const int end = first + kResizeRows;
        for (int row = rows.first > first ? rows.first : first; row <= rows.last && row < end;
             ++row) {
          const float weight = tap_weight(rows, row);
          row_weights = plus(row_weights, weight);
          add_weighted(value, weight, narrow[row - first][lane]);
        }
      }
      const float weights = times(row_weights, column_weights);
      unsigned pixel = 0;
#pragma unroll
      for (int c = 0; c < 3; ++c) pixel |= to_pixel_value(value[c], weights) << (8 * c);
      store_pixels(op.to + 3 * (image * op.height + y) * op.width, x, pixel, a.packed,
                   x < op.width && y < op.height);
    }
  }
}

}  // namespace headway::kernels::cuda
