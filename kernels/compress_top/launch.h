// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/compress_top/op.h"
#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

struct CompressTopParameters {
  CompressTop op;
  std::int64_t piece;  ///< values of v that a block goes over in order, a multiple of kTopTile
  int level;           ///< of kTopLevels, where a kernel counts bins
  bool packed;
};
struct DecompressTopParameters {
  DecompressTop op;
  bool packed;
};

/// Values that a block takes at a time: when it writes the message, and when it adds messages up, in shared memory.
inline constexpr std::int64_t kTopTile = 1024;
inline constexpr std::int64_t kTopSums = 8192;

/// Six launches, none of which the host waits for; v is read five times. Counts are integers, so their order is all the
/// same, and what is sent is written by index: the same bits as on a processor.
Launches launches(const Limits& limits, const CompressTop& op);
/// Messages are sorted: a block finds where its part of `to` begins in each, so that nothing is added atomically.
Launches launches(const Limits& limits, const DecompressTop& op);

}  // namespace headway::kernels::cuda
