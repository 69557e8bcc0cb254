// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/compress_one_bit/op.h"
#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

struct CompressOneBitParameters {
  CompressOneBit op;
  bool packed;  ///< for the floats
};
struct DecompressOneBitParameters {
  DecompressOneBit op;
  bool packed;
};

Launches launches(const Limits& limits, const CompressOneBit& op);
Launches launches(const Limits& limits, const DecompressOneBit& op);

}  // namespace headway::kernels::cuda
