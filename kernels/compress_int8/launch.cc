// SPDX-License-Identifier: MIT
#include "kernels/compress_int8/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

std::int64_t blocks_of(std::int64_t count) {
  return (count + kInt8Block - 1) / kInt8Block;
}

}  // namespace

Launches launches(const Limits& limits, const CompressInt8& op) {
  constexpr const char* kKernel = "compress_int8";
  if (op.count == 0) return {};
  require_flat(kKernel, NumberFormat::kFloat32, op.count, op.from, op.residual);
  require_aligned(op.message, 4, kKernel, "the message");
  const std::int64_t blocks = blocks_of(op.count);
  return {make_launch(kKernel, kKernel, {blocks_for(32 * blocks, kFlatThreads, limits, 8)},
                      kFlatThreads,
                      CompressInt8Parameters{op, blocks, all_packed(op.from, op.residual)})};
}

Launches launches(const Limits& limits, const DecompressInt8& op) {
  constexpr const char* kKernel = "decompress_int8";
  if (op.count == 0) return {};
  require_flat(kKernel, NumberFormat::kFloat32, op.count, op.to);
  require_aligned(op.messages, 4, kKernel, "the messages");
  require(op.ranks > 0, kKernel, "there must be a message");
  require(op.ranks == 1 || (op.stride >= int8_message_bytes(op.count) && op.stride % 4 == 0),
          kKernel, "messages must lie a multiple of 4 bytes apart, and not in each other");
  return {make_launch("compress_int8", kKernel,
                      {blocks_for((op.count + 3) / 4, kFlatThreads, limits)}, kFlatThreads,
                      DecompressInt8Parameters{op, blocks_of(op.count), all_packed(op.to)})};
}

}  // namespace headway::kernels::cuda
