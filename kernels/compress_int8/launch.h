// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/compress_int8/op.h"
#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

struct CompressInt8Parameters {
  CompressInt8 op;
  std::int64_t blocks;  ///< of kInt8Block values
  bool packed;          ///< for the floats; integers always lie at multiples of 4
};
struct DecompressInt8Parameters {
  DecompressInt8 op;
  std::int64_t blocks;
  bool packed;
};

Launches launches(const Limits& limits, const CompressInt8& op);
Launches launches(const Limits& limits, const DecompressInt8& op);

}  // namespace headway::kernels::cuda
