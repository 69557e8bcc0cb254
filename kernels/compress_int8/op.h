// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// Gradients as 8-bit integers with one scale (largest magnitude / 127) per block of kInt8Block values, and error feedback:
/// wanted = from + residual; integer = round(wanted / scale), halves away from zero; residual = wanted - scale · integer.
/// An integer stays within ±127 (a scale may be subnormal). It is 0 where the scale is 0 or the
/// quotient is NaN. A message holds the scales of all blocks first, then the integers.
inline constexpr std::int64_t kInt8Block = 1024;

constexpr std::int64_t int8_message_bytes(std::int64_t count) {
  return (count + kInt8Block - 1) / kInt8Block * std::int64_t{sizeof(float)} + count;
}

struct CompressInt8 {
  std::int64_t count = 0;
  const float* from = nullptr;
  float* residual = nullptr;     ///< read and written, zero at first
  std::byte* message = nullptr;  ///< int8_message_bytes(count); a multiple of 4 in address
};

/// to = sum of the values in the messages of all ranks, in rank order. Messages lie `stride` bytes
/// apart, a multiple of 4.
struct DecompressInt8 {
  std::int64_t count = 0;
  int ranks = 1;
  std::int64_t stride = 0;
  const std::byte* messages = nullptr;
  float* to = nullptr;
};

void run(const CompressInt8& op);
void run(const DecompressInt8& op);

constexpr Work work_of(const CompressInt8& op) {
  return {5 * op.count, 17 * op.count};
}
constexpr Work work_of(const DecompressInt8& op) {
  return {2 * op.count * op.ranks, int8_message_bytes(op.count) * op.ranks + 4 * op.count};
}

}  // namespace headway::kernels
