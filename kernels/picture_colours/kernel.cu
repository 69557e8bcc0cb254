// SPDX-License-Identifier: MIT
#include "kernels/picture_colours/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

/// Four pixels.
inline constexpr int kQuadValues = 3 * kQuad;
struct PixelQuad {
  std::uint32_t words[3];

  __device__ __forceinline__ std::uint32_t at(int k) const {
    return words[k / 4] >> (8 * (k % 4)) & 0xFFU;
  }
};
__device__ __forceinline__ PixelQuad load_pixels(const std::uint8_t* from) {
  return *reinterpret_cast<const PixelQuad*>(from);
}

/// The sum of 1000 · luma over an image, returned to all threads of the block.
__device__ __forceinline__ std::int64_t luma_sum(const std::uint8_t* from, std::int64_t pixels,
                                                 bool packed) {
  std::uint32_t sums[3] = {};  // over at most 2^31 / 3 / 512 pixels: no overflow
  if (packed) {
    for (std::int64_t i = threadIdx.x; i < pixels / kQuad; i += kColourThreads) {
      const PixelQuad quad = load_pixels(from + i * kQuadValues);
#pragma unroll
      for (int k = 0; k < kQuadValues; ++k) sums[k % 3] += quad.at(k);
    }
  } else {
    for (std::int64_t i = threadIdx.x; i < pixels; i += kColourThreads)
#pragma unroll
      for (int c = 0; c < 3; ++c) sums[c] += from[3 * i + c];
  }
  return group_sum<kColourThreads>(std::int64_t{299} * sums[0] + std::int64_t{587} * sums[1] +
                                   std::int64_t{114} * sums[2]);
}

/// The colour change of an image; `mean` is its mean luma times brightness.
struct ImageColours {
  bool changed;
  ColourChange by;
  float mean;
};

/// Converts one pixel, in place, to the network's input.
__device__ __forceinline__ void colour_pixel(const ColourPicturesParameters& a,
                                             const ImageColours& colours, float* x) {
  if (colours.changed) {
    const ColourChange& by = colours.by;
#pragma unroll
    for (int c = 0; c < 3; ++c)
      x[c] =
          plus(colours.mean, times(by.contrast, plus(times(x[c], by.brightness), -colours.mean)));
    const float grey = plus(plus(times(0.299F, x[0]), times(0.587F, x[1])), times(0.114F, x[2]));
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      const float value = plus(grey, times(by.saturation, plus(x[c], -grey)));
      x[c] = value < 0.0F ? 0.0F : value > 255.0F ? 255.0F : value;
    }
  }
#pragma unroll
  for (int c = 0; c < 3; ++c) x[c] = plus(x[c] / 255.0F, -a.mean[c]) / a.deviation[c];
}

/// The blocks of a row of the grid process one image, four pixels per lane. A warp's results pass
/// through shared memory, so that it stores consecutive pieces of 16 bytes.
__device__ __forceinline__ void colour_quads(const ColourPicturesParameters& a,
                                             const ImageColours& colours, const std::uint8_t* from,
                                             std::int64_t pixels, float* to) {
  using Quad = Pack<float, kQuad>;
  __shared__ Quad results[3 * kColourThreads];
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  Quad* const mine = results + 3 * threadIdx.x;
  const Quad* const of_warp = mine - 3 * lane;
  const std::int64_t quads = pixels / kQuad;
  for (std::int64_t i = global_thread(); i - lane < quads; i += global_threads()) {
    if (i < quads) {
      const PixelQuad quad = load_pixels(from + i * kQuadValues);
      float values[kQuadValues];
#pragma unroll
      for (int k = 0; k < kQuadValues; ++k) values[k] = static_cast<float>(quad.at(k));
#pragma unroll
      for (int k = 0; k < kQuad; ++k) colour_pixel(a, colours, values + 3 * k);
#pragma unroll
      for (int k = 0; k < 3; ++k)
        mine[k] = {{values[4 * k], values[4 * k + 1], values[4 * k + 2], values[4 * k + 3]}};
    }
    __syncwarp();
    const std::int64_t first = 3 * (i - lane);
#pragma unroll
    for (int k = lane; k < 3 * kLanes; k += kLanes)
      if (first + k < 3 * quads) store_pack(to + (first + k) * kQuad, of_warp[k]);
    __syncwarp();
  }
}

HEADWAY_KERNEL(colour_pictures, 512, ColourPicturesParameters) {
  const ColourPictures& op = a.op;
  const std::int64_t pixels = static_cast<std::int64_t>(op.height) * op.width;
  for (std::int64_t image = blockIdx.y; image < op.images; image += gridDim.y) {
    const std::uint8_t* const from = op.from + image * pixels * 3;
    float* const to = op.to + image * pixels * 3;
    ImageColours colours{op.changes != nullptr, {}, 0};
    if (colours.changed) {
      colours.by = op.changes[image];
      const std::int64_t sum = luma_sum(from, pixels, a.packed);
      colours.mean =
          times(colours.by.brightness, static_cast<float>(sum) / static_cast<float>(1000 * pixels));
    }
    if (a.packed) {
      colour_quads(a, colours, from, pixels, to);
    } else {
      for (std::int64_t i = global_thread(); i < pixels; i += global_threads()) {
        float x[3];
#pragma unroll
        for (int c = 0; c < 3; ++c) x[c] = static_cast<float>(from[3 * i + c]);
        colour_pixel(a, colours, x);
#pragma unroll
        for (int c = 0; c < 3; ++c) to[3 * i + c] = x[c];
      }
    }
  }
}

}  // namespace headway::kernels::cuda
