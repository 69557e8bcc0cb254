// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/compress_one_bit/op.h"
#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

/// Where messages lie.
struct OneBitMessages {
  std::int64_t blocks;       ///< of kOneBitBlock values, in all parts
  std::int64_t part_blocks;  ///< in one part
  std::int64_t bytes;        ///< of one message
};
struct CompressOneBitParameters {
  CompressOneBit op;
  OneBitMessages messages;
  bool packed;  ///< for the floats
};
struct DecompressOneBitParameters {
  DecompressOneBit op;
  OneBitMessages messages;
  bool packed;
};

Launches launches(const Limits& limits, const CompressOneBit& op);
Launches launches(const Limits& limits, const DecompressOneBit& op);

}  // namespace headway::kernels::cuda
