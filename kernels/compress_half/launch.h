// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/compress_half/op.h"
#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

struct CompressHalfParameters {
  CompressHalf op;
  bool packed;
};

Launches launches(const Limits& limits, const CompressHalf& op);
/// Uses the cast kernel.
Launches launches(const Limits& limits, const DecompressHalf& op);

}  // namespace headway::kernels::cuda
