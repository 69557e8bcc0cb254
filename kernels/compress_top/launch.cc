// SPDX-License-Identifier: MIT
#include "kernels/compress_top/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {

Launches launches(const Limits& limits, const CompressTop& op) {
  constexpr const char* kKernel = "compress_top";
  if (op.count == 0) return {};
  require(op.count < std::int64_t{1} << 32, kKernel, "an index has 32 bits");
  require(op.entries > 0 && op.entries <= op.count, kKernel, "entries must be 1 to count");
  require_flat(kKernel, NumberFormat::kFloat32, op.count, op.gradient, op.momentum, op.waiting);
  require_aligned(op.message, 4, kKernel, "the message");
  require_aligned(op.scratch, 16, kKernel, "the scratch memory");
  const std::int64_t tiles = (op.count + kTopTile - 1) / kTopTile;
  const std::int64_t each = (tiles + TopScratch::kPieces - 1) / TopScratch::kPieces;
  const auto pieces = static_cast<unsigned>((tiles + each - 1) / each);
  CompressTopParameters by{op, each * kTopTile, 0, all_packed(op.waiting)};
  auto launch = [&](const char* kernel, unsigned blocks) {
    return make_launch(kKernel, kernel, {blocks}, kFlatThreads, by);
  };
  const unsigned shared = blocks_for((op.count + 3) / 4, kFlatThreads, limits, 8);
  Launches result = {launch("top_clear", 4)};
  by.packed = all_packed(op.gradient, op.momentum, op.waiting);
  result.push_back(launch("top_accumulate", shared));
  by.packed = all_packed(op.waiting);
  for (by.level = 1; by.level < 3; ++by.level) result.push_back(launch("top_search", shared));
  result.push_back(launch("top_count", pieces));
  result.push_back(launch("top_write", pieces));
  return result;
}

Launches launches(const Limits& limits, const DecompressTop& op) {
  constexpr const char* kKernel = "decompress_top";
  if (op.count == 0) return {};
  require(op.entries > 0 && op.ranks > 0, kKernel, "there must be a message");
  require_flat(kKernel, NumberFormat::kFloat32, op.count, op.to);
  require_aligned(op.messages, 4, kKernel, "the messages");
  return {make_launch("compress_top", kKernel,
                      {blocks_for((op.count + kTopSums - 1) / kTopSums, 1, limits, 8)},
                      kFlatThreads, DecompressTopParameters{op, all_packed(op.to)})};
}

}  // namespace headway::kernels::cuda
