// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/jpeg_blocks/op.h"

namespace headway::kernels::cuda {

/// Computes samples, then pixels. Both kernels iterate over blocks, with eight threads each, for
/// pictures of any sizes in a batch.
Launches launches(const Limits& limits, const DecodeJpegBlocks& op);

}  // namespace headway::kernels::cuda
