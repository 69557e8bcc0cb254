// SPDX-License-Identifier: MIT
#include "kernels/clip_gradients/launch.h"

#include "kernels/cuda/flat.h"

namespace headway::kernels::cuda {

Launches launches(const Limits& limits, const ClipGradients& op) {
  constexpr const char* kImage = "clip_gradients";
  if (op.count == 0) return {};
  require_flat(kImage, NumberFormat::kFloat32, op.count, op.values);
  require_aligned(op.sums, 8, kImage, "the sums");
  require(op.most > 0, kImage, "the largest norm must be above 0");
  const ClipGradientsParameters parameters{op, clip_blocks(op.count), all_packed(op.values)};
  return {
      make_launch(kImage, "sum_squares",
                  {blocks_for(32 * clip_blocks(op.count), kFlatThreads, limits, 8)}, kFlatThreads,
                  parameters),
      make_launch(kImage, "clip_gradients", {blocks_for((op.count + 3) / 4, kFlatThreads, limits)},
                  kFlatThreads, parameters)};
}

}  // namespace headway::kernels::cuda
