// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// Clips gradients by their norm: where |values| exceeds `most`, values = values · most / |values|.
/// A norm that is not a number, or infinite, changes nothing. Squares are exact in double and are
/// summed by blocks of kClipBlock values (32 lanes of quads, then halves of the lanes), then over
/// blocks by 256 threads, so that all devices get the same bits.
inline constexpr std::int64_t kClipBlock = 1024;

constexpr std::int64_t clip_blocks(std::int64_t count) {
  return (count + kClipBlock - 1) / kClipBlock;
}

struct ClipGradients {
  std::int64_t count = 0;
  float most = 0;           ///< above 0
  float* values = nullptr;  ///< read and written
  double* sums = nullptr;   ///< scratch: clip_blocks(count)
};

void run(const ClipGradients& op);

constexpr Work work_of(const ClipGradients& op) {
  return {3 * op.count, 12 * op.count + 16 * clip_blocks(op.count)};
}

}  // namespace headway::kernels
