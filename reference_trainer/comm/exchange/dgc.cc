// SPDX-License-Identifier: MIT
// Deep gradient compression (kernels/compress_top/op.h): only the largest values are sent. Small
// values are sent later, when they have grown. Momentum is applied before that (momentum
// correction), and what was sent restarts without it (momentum factor masking); each rank clips its
// gradients before it adds them up. The first exchanges send more (25 %, 6.3 %, 1.6 %),
// because early gradients change quickly. Messages are all-gathered: their total grows with the
// number of ranks.
#include <algorithm>
#include <cmath>

#include "reference_trainer/comm/bucket.h"

namespace headway::trainer::exchange {
namespace {

constexpr int kStages = 4;

std::int64_t entries_at(double density, std::int64_t count) {
  return std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::ceil(density * static_cast<double>(count))), 1, count);
}

}  // namespace

void add_dgc(Bucket& bucket) {
  const std::int64_t count = bucket.count();
  const std::int64_t ranks = bucket.size();
  const ExchangeOptions& options = bucket.options();
  const std::int64_t most =
      entries_at(options.warm_up > 0 ? std::max(options.density, 0.25) : options.density, count);
  auto* const momentum = bucket.buffer<float>(count);
  auto* const waiting = bucket.buffer<float>(count);
  auto* const scratch = bucket.buffer<std::byte>(kernels::compress_top_scratch_bytes(count));
  auto* const messages = bucket.buffer<std::byte>(most * kernels::kTopEntryBytes * ranks);
  auto* const sums =
      options.clip > 0 ? bucket.buffer<double>(kernels::clip_blocks(count)) : nullptr;
  auto add_way = [&](std::int64_t first_exchange, double density) {
    const std::int64_t entries = entries_at(density, count);
    const std::int64_t bytes = entries * kernels::kTopEntryBytes;
    bucket.from_exchange(first_exchange);
    bucket.add_pack();
    if (options.clip > 0)
      bucket.add_kernel("clip/dgc",
                        kernels::ClipGradients{count, options.clip, bucket.flat(), sums});
    bucket.add_kernel(
        "compress/dgc",
        kernels::CompressTop{count, entries, options.momentum, bucket.flat(), momentum, waiting,
                             Bucket::at(messages, bytes * bucket.rank()), scratch});
    bucket.add_collective(CollectiveKind::kAllGather, Scope::kWorld, ElementType::kByte, messages,
                          bytes * ranks);
    bucket.add_kernel("decompress/dgc", kernels::DecompressTop{count, entries, bucket.size(),
                                                               messages, bucket.flat()});
    bucket.add_unpack(1 / options.average_over);
  };
  for (int stage = 0; stage < kStages && options.warm_up > 0; ++stage)
    add_way((stage * options.warm_up + kStages - 1) / kStages,
            std::max(options.density, std::pow(0.25, stage + 1)));
  add_way(options.warm_up, options.density);
}

}  // namespace headway::trainer::exchange
