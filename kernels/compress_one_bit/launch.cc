// SPDX-License-Identifier: MIT
#include "kernels/compress_one_bit/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

OneBitMessages messages_of(const char* kernel, std::int64_t count, std::int64_t part) {
  require(part > 0 && part % kOneBitBlock == 0, kernel, "a part must be whole blocks");
  return {(count + kOneBitBlock - 1) / kOneBitBlock, part / kOneBitBlock,
          one_bit_message_bytes(part)};
}

}  // namespace

Launches launches(const Limits& limits, const CompressOneBit& op) {
  constexpr const char* kKernel = "compress_one_bit";
  if (op.count == 0) return {};
  require_flat(kKernel, NumberFormat::kFloat32, op.count, op.from, op.residual);
  require_aligned(op.messages, 4, kKernel, "the messages");
  const OneBitMessages messages = messages_of(kKernel, op.count, op.part);
  return {make_launch(kKernel, kKernel, {blocks_for(32 * messages.blocks, kFlatThreads, limits, 8)},
                      kFlatThreads,
                      CompressOneBitParameters{op, messages, all_packed(op.from, op.residual)})};
}

Launches launches(const Limits& limits, const DecompressOneBit& op) {
  constexpr const char* kKernel = "decompress_one_bit";
  if (op.count == 0) return {};
  require_flat(kKernel, NumberFormat::kFloat32, op.count, op.to);
  require_aligned(op.messages, 4, kKernel, "the messages");
  const OneBitMessages messages = messages_of(kKernel, op.count, op.part);
  require(op.ranks > 0, kKernel, "there must be a message");
  require(op.ranks == 1 || op.count <= op.part, kKernel, "several ranks send one part only");
  return {make_launch("compress_one_bit", kKernel,
                      {blocks_for((op.count + 3) / 4, kFlatThreads, limits)}, kFlatThreads,
                      DecompressOneBitParameters{op, messages, all_packed(op.to)})};
}

}  // namespace headway::kernels::cuda
