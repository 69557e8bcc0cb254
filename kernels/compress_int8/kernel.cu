// SPDX-License-Identifier: MIT
#include "kernels/compress_int8/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

constexpr int kQuadsOfLane = kInt8Block / kLanes / kQuad;

/// A warp keeps a block of values in its registers, so that they are read once.
HEADWAY_KERNEL(compress_int8, 256, CompressInt8Parameters) {
  const CompressInt8& op = a.op;
  float* const scales = reinterpret_cast<float*>(op.message);
  auto* const integers = reinterpret_cast<signed char*>(op.message) + 4 * a.blocks;
  const int lane = threadIdx.x % kLanes;
  for (std::int64_t block = global_thread() / kLanes; block < a.blocks;
       block += global_threads() / kLanes) {
    float wanted[kQuadsOfLane][kQuad];
    float most = 0;
#pragma unroll
    for (int j = 0; j < kQuadsOfLane; ++j) {
      const std::int64_t i = block * kInt8Block + (j * kLanes + lane) * kQuad;
      const std::int64_t valid = op.count - i;
      const bool packed = a.packed && valid >= kQuad;
      float residual[kQuad];
      load4(op.from + i, packed, valid, wanted[j]);
      load4(op.residual + i, packed, valid, residual);
#pragma unroll
      for (int k = 0; k < kQuad; ++k) {
        wanted[j][k] = plus(wanted[j][k], residual[k]);
        most = fmaxf(most, fabsf(wanted[j][k]));
      }
    }
    const float scale = warp_largest(most) / 127.0F;
    if (lane == 0) scales[block] = scale;
#pragma unroll
    for (int j = 0; j < kQuadsOfLane; ++j) {
      const std::int64_t i = block * kInt8Block + (j * kLanes + lane) * kQuad;
      const std::int64_t valid = op.count - i;
      Pack<signed char, kQuad> quad;
#pragma unroll
      for (int k = 0; k < kQuad; ++k) {
        const int integer = nearest_int8(wanted[j][k], scale);
        quad.at[k] = static_cast<signed char>(integer);
        wanted[j][k] = plus(wanted[j][k], -times(scale, static_cast<float>(integer)));
      }
      store4(op.residual + i, a.packed && valid >= kQuad, valid, wanted[j]);
      if (valid >= kQuad) {
        *reinterpret_cast<Pack<signed char, kQuad>*>(integers + i) = quad;
      } else {
        for (int k = 0; k < kQuad; ++k)
          if (k < valid) integers[i + k] = quad.at[k];
      }
    }
  }
}

/// A thread sums four values over all messages.
HEADWAY_KERNEL(decompress_int8, 256, DecompressInt8Parameters) {
  const DecompressInt8& op = a.op;
  for (std::int64_t i = global_thread() * kQuad; i < op.count; i += global_threads() * kQuad) {
    const std::int64_t valid = op.count - i;
    float sums[kQuad] = {};
    for (int rank = 0; rank < op.ranks; ++rank) {
      const std::byte* const message = op.messages + rank * op.stride;
      const float scale = reinterpret_cast<const float*>(message)[i / kInt8Block];
      const auto* const integers = reinterpret_cast<const signed char*>(message) + 4 * a.blocks + i;
      Pack<signed char, kQuad> quad{};
      if (valid >= kQuad) {
        quad = *reinterpret_cast<const Pack<signed char, kQuad>*>(integers);
      } else {
        for (int k = 0; k < kQuad; ++k)
          if (k < valid) quad.at[k] = integers[k];
      }
#pragma unroll
      for (int k = 0; k < kQuad; ++k)
        sums[k] = plus(sums[k], times(scale, static_cast<float>(quad.at[k])));
    }
    store4(op.to + i, a.packed && valid >= kQuad, valid, sums);
  }
}

}  // namespace headway::kernels::cuda
