// SPDX-License-Identifier: MIT
#include "kernels/compress_int8/op.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

std::int64_t blocks_of(std::int64_t count) {
  return (count + kInt8Block - 1) / kInt8Block;
}
constexpr std::int64_t kGrain = kFlatGrain / kInt8Block;

/// Calls body(block, first value, end) for all blocks.
template <class Body>
void for_each_block(std::int64_t count, const Body& body) {
  parallel_for(blocks_of(count), kGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block)
      body(block, block * kInt8Block, std::min((block + 1) * kInt8Block, count));
  });
}

std::int8_t integer_of(float quotient) {
  if (!(std::abs(quotient) < 127)) quotient = quotient > 0 ? 127.0F : quotient < 0 ? -127.0F : 0.0F;
  return static_cast<std::int8_t>(std::lround(quotient));
}

}  // namespace

void run(const CompressInt8& op) {
  std::byte* integers = op.message + blocks_of(op.count) * std::int64_t{sizeof(float)};
  for_each_block(op.count, [&](std::int64_t block, std::int64_t first, std::int64_t end) {
    float most = 0;
    for (std::int64_t i = first; i < end; ++i)
      most = std::max(most, std::abs(op.from[i] + op.residual[i]));
    const float scale = most / 127;
    std::memcpy(op.message + block * std::int64_t{sizeof scale}, &scale, sizeof scale);
    for (std::int64_t i = first; i < end; ++i) {
      const float wanted = op.from[i] + op.residual[i];
      const std::int8_t integer = scale > 0 ? integer_of(wanted / scale) : std::int8_t{0};
      integers[i] = static_cast<std::byte>(integer);
      op.residual[i] = wanted - scale * integer;
    }
  });
}

void run(const DecompressInt8& op) {
  const std::int64_t scales_bytes = blocks_of(op.count) * std::int64_t{sizeof(float)};
  for_each_block(op.count, [&](std::int64_t block, std::int64_t first, std::int64_t end) {
    std::fill(op.to + first, op.to + end, 0.0F);
    for (int rank = 0; rank < op.ranks; ++rank) {
      const std::byte* message = op.messages + rank * op.stride;
      float scale = 0;
      std::memcpy(&scale, message + block * std::int64_t{sizeof scale}, sizeof scale);
      const std::byte* integers = message + scales_bytes;
      for (std::int64_t i = first; i < end; ++i)
        op.to[i] += scale * static_cast<float>(static_cast<std::int8_t>(integers[i]));
    }
  });
}

}  // namespace headway::kernels
