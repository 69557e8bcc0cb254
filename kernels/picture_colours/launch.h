// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/picture_colours/op.h"

namespace headway::kernels::cuda {

inline constexpr unsigned kColourThreads = 512;

struct ColourPicturesParameters {
  ColourPictures op;
  float mean[3];  ///< copies of the op's values, whose std::array exists only on the host
  float deviation[3];
  bool packed;  ///< images begin at multiples of 4 bytes, results at multiples of 16
};

/// Where colours change, each block sums the whole image and then computes a part of it. There are
/// too few images for one block each, and reading an image again from the cache costs less than a
/// second launch and memory for its sum.
Launches launches(const Limits& limits, const ColourPictures& op);

}  // namespace headway::kernels::cuda
