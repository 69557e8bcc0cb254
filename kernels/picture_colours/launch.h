// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/picture_colours/op.h"

namespace headway::kernels::cuda {

inline constexpr unsigned kColourThreads = 512;

struct ColourPicturesParameters {
  ColourPictures op;
  float mean[3];  ///< those of the op, whose std::array is the host's
  float deviation[3];
  bool packed;  ///< images begin at multiples of 4 bytes, results at multiples of 16
};

/// Where colours change, each block adds up the whole image and then makes a part of it: there are too few images for one
/// block each, and reading one again from the cache costs less than a second launch and memory for its sum.
Launches launches(const Limits& limits, const ColourPictures& op);

}  // namespace headway::kernels::cuda
