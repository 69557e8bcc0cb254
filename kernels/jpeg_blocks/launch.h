// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/jpeg_blocks/op.h"

namespace headway::kernels::cuda {

/// Samples, then pixels: both kernels go over blocks, eight threads each, whatever sizes the pictures of a batch have.
Launches launches(const Limits& limits, const DecodeJpegBlocks& op);

}  // namespace headway::kernels::cuda
