// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/image_shift/op.h"

namespace headway::kernels::cuda {

struct ShiftImagesParameters {
  ShiftImages op;
  bool packed;  ///< four pixels are written at once
};

/// An image per row of the grid, four pixels of a row of memory per thread.
Launches launches(const Limits& limits, const ShiftImages& op);

}  // namespace headway::kernels::cuda
