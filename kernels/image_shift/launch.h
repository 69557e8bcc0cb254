// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/image_shift/op.h"

namespace headway::kernels::cuda {

struct ShiftImagesParameters {
  ShiftImages op;
  bool packed;  ///< four pixels are written at once
};

/// One row of the grid per image; each thread handles four pixels of a row.
Launches launches(const Limits& limits, const ShiftImages& op);

}  // namespace headway::kernels::cuda
