// SPDX-License-Identifier: MIT
#include "kernels/clip_gradients/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

/// A warp sums the squares of a block.
HEADWAY_KERNEL(sum_squares, 256, ClipGradientsParameters) {
  const ClipGradients& op = a.op;
  const int lane = threadIdx.x % kLanes;
  for (std::int64_t block = global_thread() / kLanes; block < a.blocks;
       block += global_threads() / kLanes) {
    double sum = 0;
#pragma unroll
    for (int j = 0; j < kClipBlock / kLanes / kQuad; ++j) {
      const std::int64_t i = block * kClipBlock + (j * kLanes + lane) * kQuad;
      const std::int64_t valid = op.count - i;
      float values[kQuad];
      load4(op.values + i, a.packed && valid >= kQuad, valid, values);
#pragma unroll
      for (int k = 0; k < kQuad; ++k) {
        // The square of a float is exact in double, so a fused addition rounds the same.
        const double value = values[k];
        sum += value * value;
      }
    }
    sum = warp_sum(sum);
    if (lane == 0) op.sums[block] = sum;
  }
}

HEADWAY_KERNEL(clip_gradients, 256, ClipGradientsParameters) {
  const ClipGradients& op = a.op;
  double squares = 0;
  for (std::int64_t block = threadIdx.x; block < a.blocks; block += 256) squares += op.sums[block];
  const double norm = sqrt(group_sum<256>(squares));
  if (!(norm > op.most) || norm == INFINITY) return;
  const float factor = static_cast<float>(static_cast<double>(op.most) / norm);
  for (std::int64_t i = global_thread() * kQuad; i < op.count; i += global_threads() * kQuad) {
    const std::int64_t valid = op.count - i;
    const bool packed = a.packed && valid >= kQuad;
    float values[kQuad];
    load4(op.values + i, packed, valid, values);
#pragma unroll
    for (int k = 0; k < kQuad; ++k) values[k] = times(values[k], factor);
    store4(op.values + i, packed, valid, values);
  }
}

}  // namespace headway::kernels::cuda
