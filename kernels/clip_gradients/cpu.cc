// SPDX-License-Identifier: MIT
#include "kernels/clip_gradients/op.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

constexpr std::size_t kLanes = 32;
constexpr std::size_t kThreads = 256;

/// The sum over the lanes by halves, as a warp makes it.
double sum_of(double* lanes) {
  for (std::size_t half = kLanes / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

double square_of_block(const ClipGradients& op, std::int64_t block) {
  std::array<double, kLanes> lanes{};
  const std::int64_t first = block * kClipBlock;
  const std::int64_t end = std::min(first + kClipBlock, op.count);
  for (std::int64_t i = first; i < end; ++i)
    lanes[static_cast<std::size_t>((i - first) / 4) % kLanes] +=
        double{op.values[i]} * double{op.values[i]};
  return sum_of(lanes.data());
}

}  // namespace

void run(const ClipGradients& op) {
  const std::int64_t blocks = clip_blocks(op.count);
  constexpr std::int64_t kGrain = kFlatGrain / kClipBlock;
  parallel_for(blocks, kGrain, max_threads(), [&op](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block)
      op.sums[block] = square_of_block(op, block);
  });
  std::array<double, kThreads> threads{};
  for (std::int64_t block = 0; block < blocks; ++block)
    threads[static_cast<std::size_t>(block) % kThreads] += op.sums[block];
  double squares = 0;
  for (std::size_t warp = 0; warp < kThreads; warp += kLanes) squares += sum_of(&threads[warp]);
  const double norm = std::sqrt(squares);
  if (!(norm > double{op.most}) || std::isinf(norm)) return;
  const auto factor = static_cast<float>(double{op.most} / norm);
  parallel_for(op.count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) op.values[i] *= factor;
  });
}

}  // namespace headway::kernels
