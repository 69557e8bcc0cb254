// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/picture_resize/op.h"

namespace headway::kernels::cuda {

/// Pixels of the result that a block computes at a time: a warp has a row, a lane has a pixel.
inline constexpr int kResizeTileWidth = 32;
inline constexpr int kResizeTileHeight = 8;

struct ResizePicturesParameters {
  ResizePictures op;
  unsigned tiles_across;
  unsigned tiles;  ///< of an image
  bool packed;     ///< rows of the result begin at multiples of 4 bytes
};

/// Rows of the picture are narrowed into shared memory, a few at a time, and summed from there.
Launches launches(const Limits& limits, const ResizePictures& op);

}  // namespace headway::kernels::cuda
