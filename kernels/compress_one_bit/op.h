// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// Gradients as one bit per value with error feedback (1-bit SGD, Seide et al., 2014): the sign, and two means per block of
/// kOneBitBlock values:
///   wanted = from + residual;   sent = mean of the block's wanted values that have the same sign (0 counts as positive);
///   residual = wanted - sent, or 0 where that is not finite.
/// Sums of a block add up 32 lanes of quads first, then halves of the lanes, on every device, so that all devices send the same
/// bits. Values lie in parts of `part` values, the last one shorter. Each part is a separate message; messages lie one after
/// another. A message holds the two means of each block first (positive, negative; FP32), then the bits: value i of the part is
/// bit i % 32 of word i / 32, 1 for a positive one.
inline constexpr std::int64_t kOneBitBlock = 1024;

/// Bytes of the message of `part` values, a multiple of kOneBitBlock.
constexpr std::int64_t one_bit_message_bytes(std::int64_t part) {
  return part / kOneBitBlock * 2 * std::int64_t{sizeof(float)} + part / 8;
}
/// The smallest part, a multiple of kOneBitBlock, with which `ranks` parts hold `count` values.
constexpr std::int64_t one_bit_part(std::int64_t count, std::int64_t ranks) {
  const std::int64_t each = ranks * kOneBitBlock;
  return (count + each - 1) / each * kOneBitBlock;
}

struct CompressOneBit {
  std::int64_t count = 0;
  std::int64_t part = kOneBitBlock;  ///< values per message, a multiple of kOneBitBlock
  const float* from = nullptr;
  float* residual = nullptr;  ///< read and written, zero at first
  std::byte* messages =
      nullptr;  ///< one_bit_message_bytes(part) per part; a multiple of 4 in address
};

/// to = the values of the parts' messages. With `ranks` > 1 there is one part, and to = the sum of its values in the messages of
/// all ranks, in rank order.
struct DecompressOneBit {
  std::int64_t count = 0;
  std::int64_t part = kOneBitBlock;
  int ranks = 1;
  const std::byte* messages = nullptr;
  float* to = nullptr;
};

void run(const CompressOneBit& op);
void run(const DecompressOneBit& op);

constexpr Work work_of(const CompressOneBit& op) {
  return {6 * op.count, 12 * op.count + one_bit_message_bytes(one_bit_part(op.count, 1))};
}
constexpr Work work_of(const DecompressOneBit& op) {
  return {2 * op.count * op.ranks,
          one_bit_message_bytes(one_bit_part(op.count, 1)) * op.ranks + 4 * op.count};
}

}  // namespace headway::kernels
