// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/compress_top/op.h"
#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

struct CompressTopParameters {
  CompressTop op;
  std::int64_t piece;  ///< values of v that a block processes in order, a multiple of kTopTile
  int level;           ///< of kTopLevels, where a kernel counts bins
  bool packed;
};
struct DecompressTopParameters {
  DecompressTop op;
  bool packed;
};

/// Values that a block processes at a time: when it writes the message (kTopTile), and when it adds
/// up messages in shared memory (kTopSums).
inline constexpr std::int64_t kTopTile = 1024;
inline constexpr std::int64_t kTopSums = 8192;

/// Six launches; the host waits for none of them. v is read five times. Counts are integers, so the
/// order of counting does not matter, and the message is written in index order: the bits are the
/// same as on a processor.
Launches launches(const Limits& limits, const CompressTop& op);
/// Messages are sorted: a block finds where its part of `to` begins in each message, so that no
/// atomic additions are needed.
Launches launches(const Limits& limits, const DecompressTop& op);

}  // namespace headway::kernels::cuda
