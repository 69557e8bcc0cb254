// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"

// For launchers of kernels over images of one size: blockIdx.y is the image, blockIdx.x a piece of
// the image.
namespace headway::kernels::cuda {

/// The number of pixels of an image. Fails unless it is positive and the number of values fits in
/// 31 bits.
inline std::int64_t require_image(const char* kernel, int height, int width) {
  require(height > 0 && width > 0, kernel, "an image must have at least one pixel");
  const std::int64_t pixels = std::int64_t{height} * width;
  require(pixels <= 0x7FFFFFFF / 3, kernel, "an image has too many pixels");
  return pixels;
}

/// A grid with enough blocks per image for `work` threads, or fewer where these fill every
/// multiprocessor (`per_multiprocessor` blocks); a thread then processes several pieces. There is
/// at least one block per image; the number of images is limited to the rows that a grid may have.
inline Grid image_grid(const Limits& limits, std::int64_t images, std::int64_t work,
                       unsigned threads, int per_multiprocessor = 16) {
  constexpr std::int64_t kMostRows = 65535;
  const std::int64_t rows = std::min(images, kMostRows);
  const std::int64_t full = std::int64_t{limits.multiprocessors} * per_multiprocessor / rows;
  const std::int64_t all = (work + threads - 1) / threads;
  return {static_cast<unsigned>(std::clamp<std::int64_t>(full, 1, all)),
          static_cast<unsigned>(rows)};
}

}  // namespace headway::kernels::cuda
