// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// Gradients as IEEE half floats with error feedback: wanted = from · factor + residual; to = half(wanted), to nearest even;
/// residual = wanted - to.
struct CompressHalf {
  std::int64_t count = 0;
  const float* from = nullptr;
  float factor = 1;
  float* residual = nullptr;    ///< read and written, zero at first
  std::uint16_t* to = nullptr;  ///< bits
};

/// to = from, in FP32.
struct DecompressHalf {
  std::int64_t count = 0;
  const std::uint16_t* from = nullptr;
  float* to = nullptr;
};

void run(const CompressHalf& op);
void run(const DecompressHalf& op);

constexpr Work work_of(const CompressHalf& op) {
  return {2 * op.count, 14 * op.count};
}
constexpr Work work_of(const DecompressHalf& op) {
  return {0, 6 * op.count};
}

}  // namespace headway::kernels
