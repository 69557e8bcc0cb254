// SPDX-License-Identifier: MIT
#include "kernels/max_pool/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

__device__ __forceinline__ void load_places(const std::uint8_t* from, bool packed,
                                            std::int64_t valid, std::uint8_t (&to)[kPack]) {
  if (packed) {
    const auto eight = *reinterpret_cast<const Pack<std::uint8_t, kPack>*>(from);
#pragma unroll
    for (int i = 0; i < kPack; ++i) to[i] = eight.at[i];
  } else {
#pragma unroll
    for (int i = 0; i < kPack; ++i) to[i] = i < valid ? from[i] : std::uint8_t{255};
  }
}

/// A thread computes eight channels of one pixel of the result.
template <class T>
__device__ void forward_body(const MaxPoolParameters& a) {
  const MaxPoolShape& s = a.shape;
  const std::int64_t packs = (s.channels + kPack - 1) / kPack;
  const std::int64_t height = a.out_height;
  const std::int64_t width = a.out_width;
  for (std::int64_t i = global_thread(); i < s.images * height * width * packs;
       i += global_threads()) {
    const std::int64_t c = i % packs * kPack;
    const std::int64_t pixel = i / packs;
    const std::int64_t q = pixel % width * s.stride - s.padding;
    const std::int64_t p = pixel / width % height * s.stride - s.padding;
    const std::int64_t image = pixel / (width * height);
    const std::int64_t valid = s.channels - c;
    float best[kPack];
    std::uint8_t place[kPack];
#pragma unroll
    for (int k = 0; k < kPack; ++k) {
      best[k] = -INFINITY;
      place[k] = 255;
    }
    for (int r = 0; r < s.kernel; ++r) {
      if (p + r < 0 || p + r >= s.height) continue;
      for (int t = 0; t < s.kernel; ++t) {
        if (q + t < 0 || q + t >= s.width) continue;
        float x[kPack];
        load8(static_cast<const T*>(a.from) +
                  ((image * s.height + p + r) * s.width + q + t) * s.channels + c,
              a.packed, valid, x);
#pragma unroll
        for (int k = 0; k < kPack; ++k)
          if (x[k] > best[k] || place[k] == 255) {
            best[k] = x[k];
            place[k] = static_cast<std::uint8_t>(r * s.kernel + t);
          }
      }
    }
    const std::int64_t at = pixel * s.channels + c;
    store8(static_cast<T*>(a.to) + at, a.packed, valid, best);
#pragma unroll
    for (int k = 0; k < kPack; ++k)
      if (k < valid) a.place[at + k] = place[k];
  }
}

/// A thread computes eight channels of one pixel of dx.
template <class T>
__device__ void backward_body(const MaxPoolParameters& a) {
  const MaxPoolShape& s = a.shape;
  const std::int64_t packs = (s.channels + kPack - 1) / kPack;
  const std::int64_t height = a.out_height;
  const std::int64_t width = a.out_width;
  for (std::int64_t i = global_thread(); i < s.images * s.height * s.width * packs;
       i += global_threads()) {
    const std::int64_t c = i % packs * kPack;
    const std::int64_t pixel = i / packs;
    const std::int64_t x = pixel % s.width + s.padding;
    const std::int64_t y = pixel / s.width % s.height + s.padding;
    const std::int64_t image = pixel / (s.width * s.height);
    const std::int64_t valid = s.channels - c;
    float sum[kPack] = {};
    // Windows p, which cover p·stride ... p·stride + kernel - 1, that contain y.
    const std::int64_t first_p = y < s.kernel ? 0 : (y - s.kernel) / s.stride + 1;
    const std::int64_t first_q = x < s.kernel ? 0 : (x - s.kernel) / s.stride + 1;
    for (std::int64_t p = first_p; p < height && p * s.stride <= y; ++p) {
      for (std::int64_t q = first_q; q < width && q * s.stride <= x; ++q) {
        const std::int64_t at = ((image * height + p) * width + q) * s.channels + c;
        const int own = static_cast<int>((y - p * s.stride) * s.kernel + x - q * s.stride);
        std::uint8_t place[kPack];
        float dy[kPack];
        load_places(a.place + at, a.packed, valid, place);
        load8(static_cast<const T*>(a.from) + at, a.packed, valid, dy);
#pragma unroll
        for (int k = 0; k < kPack; ++k)
          if (place[k] == own) sum[k] += dy[k];
      }
    }
    store8(static_cast<T*>(a.to) + pixel * s.channels + c, a.packed, valid, sum);
  }
}

HEADWAY_KERNEL_PER_FORMAT(max_pool_forward, 256, MaxPoolParameters, forward_body)
HEADWAY_KERNEL_PER_FORMAT(max_pool_backward, 256, MaxPoolParameters, backward_body)

}  // namespace headway::kernels::cuda
