// SPDX-License-Identifier: MIT
#include "kernels/mean_pool/launch.h"

#include "kernels/column_sum/launch.h"
#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {
namespace {

MeanPoolParameters parameters(const char* kernel, NumberFormat format, std::int64_t images,
                              std::int64_t positions, std::int64_t channels, const void* from,
                              void* to) {
  require(images > 0 && positions > 0 && channels > 0, kernel, "there is no element");
  require_flat(kernel, format, 1, from, to);
  int across = 1;
  while (across < 32 && across * kColumnPack < channels) across *= 2;
  return {images,
          positions,
          channels,
          across,
          from,
          to,
          channels % kColumnPack == 0 && all_packed(from, to)};
}

}  // namespace

Launch mean_pool_forward(const Limits& limits, NumberFormat format, std::int64_t images,
                         std::int64_t positions, std::int64_t channels, const void* x, void* y) {
  const auto by = parameters("mean_pool_forward", format, images, positions, channels, x, y);
  const std::int64_t wide = std::int64_t{by.across} * kColumnPack;
  const std::int64_t jobs = images * ((channels + wide - 1) / wide);
  return make_launch("mean_pool", kernel_name("mean_pool_forward", format),
                     {blocks_for(jobs, 1, limits)}, kColumnThreads, by);
}

Launch mean_pool_backward(const Limits& limits, NumberFormat format, std::int64_t images,
                          std::int64_t positions, std::int64_t channels, const void* dy, void* dx) {
  const auto by = parameters("mean_pool_backward", format, images, positions, channels, dy, dx);
  const std::int64_t packs = images * positions * ((channels + kFlatPack - 1) / kFlatPack);
  return make_launch("mean_pool", kernel_name("mean_pool_backward", format),
                     {blocks_for(packs, kFlatThreads, limits)}, kFlatThreads, by);
}

}  // namespace headway::kernels::cuda
