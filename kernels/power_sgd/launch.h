// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/table.h"
#include "kernels/power_sgd/op.h"

namespace headway::kernels::cuda {

struct PowerEntry {
  PowerMatrix matrix;
  std::int32_t first_chunk = 0;
  bool packed = false;  ///< rows of M and columns of Q begin at multiples of 16 bytes
};
struct PowerStep {
  float* flat = nullptr;
  float* error = nullptr;
  float* p = nullptr;
  float* second = nullptr;
  std::int32_t rank = 1;
  std::int32_t tensors = 0;  ///< set by launch_tables, as the two below
  std::int32_t chunks = 0;
  std::int32_t chunk_offset = 0;
};

inline constexpr int kMostPowerRank = 64;

// How a matrix is cut into chunks, of which a block takes one at a time.
// P = M·Q: rows per warp or, where a row is long, per block.
inline constexpr std::int64_t kPowerRows = 4;
inline constexpr std::int64_t kPowerWarps = kTableThreads / 32;
inline constexpr std::int64_t kPowerWideColumns = 1024;
/// Q = M'·P: columns per chunk.
inline constexpr std::int64_t kPowerColumns = 32;
/// P·Q': size of a tile.
inline constexpr std::int64_t kPowerTileRows = 32;
inline constexpr std::int64_t kPowerTileColumns = 128;

// The order of sums depends on the shape alone: the bits are the same in every run and on every GPU
// of a model, but differ from a processor's. One launch of each kernel handles all matrices of the
// bucket.
Launches launches(const Limits& limits, const PowerFirst& op);
Launches launches(const Limits& limits, const PowerSecond& op);
Launches launches(const Limits& limits, const PowerRestore& op);

}  // namespace headway::kernels::cuda
