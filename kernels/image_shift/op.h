// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// The change to one grey image: out(y, x) is the pixel at (y + down, x' + right), where x' is x,
/// or counted from the right edge when mirrored; pixels beyond the edges are 0.
struct ImageShift {
  std::int32_t down = 0;
  std::int32_t right = 0;
  std::int32_t mirrored = 0;  ///< 0 or 1
};

/// Moves, mirrors and normalises grey images: to = pixel · scale + offset, with product and sum
/// rounded separately.
struct ShiftImages {
  std::int64_t images = 0;
  int height = 0;
  int width = 0;
  float scale = 1;                     ///< 1 / (255 · deviation)
  float offset = 0;                    ///< -mean / deviation
  const std::uint8_t* from = nullptr;  ///< [images][height][width]
  const ImageShift* shifts = nullptr;  ///< [images]
  float* to = nullptr;                 ///< [images][height][width]
};

/// Changes one image [height][width].
void shift_image(const ImageShift& shift, const std::uint8_t* from, int height, int width,
                 float scale, float offset, float* to);
/// Changes all images, each by shift_image.
void run(const ShiftImages& op);

constexpr Work work_of(const ShiftImages& op) {
  return {2 * op.images * op.height * op.width, 5 * op.images * op.height * op.width};
}

}  // namespace headway::kernels
