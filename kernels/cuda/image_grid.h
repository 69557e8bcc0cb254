// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"

// For launchers of kernels over images of one size: blockIdx.y counts images, blockIdx.x pieces of one.
namespace headway::kernels::cuda {

/// Pixels of an image. Fails unless there are any and 31 bits count its values.
inline std::int64_t require_image(const char* kernel, int height, int width) {
  require(height > 0 && width > 0, kernel, "an image must have at least one pixel");
  const std::int64_t pixels = std::int64_t{height} * width;
  require(pixels <= 0x7FFFFFFF / 3, kernel, "an image has too many pixels");
  return pixels;
}

/// Blocks for `work` threads an image, or as many as keep every multiprocessor full (`per_multiprocessor` blocks), which then
/// take several pieces; at least one an image, of at most as many images as a grid may have rows.
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
