// SPDX-License-Identifier: MIT
#include "kernels/image_shift/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

/// The value of the result at (y, x).
__device__ __forceinline__ float shifted_pixel(const ShiftImages& op, const std::uint8_t* from,
                                               const ImageShift& shift, int y, int x) {
  const int from_y = y + shift.down;
  const int from_x = (shift.mirrored ? op.width - 1 - x : x) + shift.right;
  const bool inside = from_y >= 0 && from_y < op.height && from_x >= 0 && from_x < op.width;
  const float pixel = inside ? static_cast<float>(from[from_y * op.width + from_x]) : 0.0F;
  return plus(times(pixel, op.scale), op.offset);
}

/// A thread handles four consecutive pixels in memory, which may cross from one row to the next.
HEADWAY_KERNEL(shift_images, 256, ShiftImagesParameters) {
  const ShiftImages& op = a.op;
  const int pixels = op.height * op.width;
  for (std::int64_t image = blockIdx.y; image < op.images; image += gridDim.y) {
    const ImageShift shift = op.shifts[image];
    const std::uint8_t* const from = op.from + image * pixels;
    float* const to = op.to + image * pixels;
    for (std::int64_t i = kQuad * global_thread(); i < pixels; i += kQuad * global_threads()) {
      int y = static_cast<int>(i) / op.width;
      int x = static_cast<int>(i) % op.width;
      float quad[kQuad];
#pragma unroll
      for (int k = 0; k < kQuad; ++k) {
        quad[k] = shifted_pixel(op, from, shift, y, x);
        if (++x == op.width) x = 0, ++y;
      }
      store4(to + i, a.packed, pixels - i, quad);
    }
  }
}

}  // namespace headway::kernels::cuda
