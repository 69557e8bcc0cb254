// SPDX-License-Identifier: MIT
#include "kernels/compress_one_bit/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

constexpr int kQuadsOfLane = kOneBitBlock / kLanes / kQuad;
constexpr int kLanesOfWord = 32 / kQuad;
constexpr std::int64_t kBlockWords = kOneBitBlock / 32;

/// The means and the words of block `block` of all parts; the words of a message follow its means.
struct BlockPlace {
  float* means;
  std::uint32_t* words;
};
__device__ __forceinline__ BlockPlace place_of(const OneBitMessages& by, std::byte* messages,
                                               std::int64_t block) {
  std::byte* const message = messages + block / by.part_blocks * by.bytes;
  const std::int64_t of_part = block % by.part_blocks;
  return {reinterpret_cast<float*>(message) + 2 * of_part,
          reinterpret_cast<std::uint32_t*>(message) + 2 * by.part_blocks + kBlockWords * of_part};
}

/// A warp keeps a block of values in its registers, so that they are read once.
HEADWAY_KERNEL(compress_one_bit, 256, CompressOneBitParameters) {
  const CompressOneBit& op = a.op;
  const int lane = threadIdx.x % kLanes;
  for (std::int64_t block = global_thread() / kLanes; block < a.messages.blocks;
       block += global_threads() / kLanes) {
    float wanted[kQuadsOfLane][kQuad];
    float positive = 0;
    float negative = 0;
    int positives = 0;
    int negatives = 0;
#pragma unroll
    for (int j = 0; j < kQuadsOfLane; ++j) {
      const std::int64_t i = block * kOneBitBlock + (j * kLanes + lane) * kQuad;
      const std::int64_t valid = op.count - i;
      const bool packed = a.packed && valid >= kQuad;
      float residual[kQuad];
      load4(op.from + i, packed, valid, wanted[j]);
      load4(op.residual + i, packed, valid, residual);
#pragma unroll
      for (int k = 0; k < kQuad; ++k) {
        wanted[j][k] = plus(wanted[j][k], residual[k]);
        if (k >= valid) continue;
        if (wanted[j][k] >= 0) {
          positive = plus(positive, wanted[j][k]);
          ++positives;
        } else {
          negative = plus(negative, wanted[j][k]);
          ++negatives;
        }
      }
    }
    positives = warp_sum(positives);
    negatives = warp_sum(negatives);
    const float positive_sum = warp_sum(positive);
    const float negative_sum = warp_sum(negative);
    const float mean = positives > 0 ? positive_sum / static_cast<float>(positives) : 0.0F;
    const float mean_negative = negatives > 0 ? negative_sum / static_cast<float>(negatives) : 0.0F;
    const BlockPlace place = place_of(a.messages, op.messages, block);
    if (lane == 0) {
      place.means[0] = mean;
      place.means[1] = mean_negative;
    }
#pragma unroll
    for (int j = 0; j < kQuadsOfLane; ++j) {
      const std::int64_t i = block * kOneBitBlock + (j * kLanes + lane) * kQuad;
      const std::int64_t valid = op.count - i;
      std::uint32_t word = 0;
#pragma unroll
      for (int k = 0; k < kQuad; ++k) {
        const bool is_positive = wanted[j][k] >= 0;
        if (is_positive && k < valid) word |= 1U << (lane % kLanesOfWord * kQuad + k);
        const float left = plus(wanted[j][k], is_positive ? -mean : -mean_negative);
        wanted[j][k] = fabsf(left) < INFINITY ? left : 0.0F;
      }
      store4(op.residual + i, a.packed && valid >= kQuad, valid, wanted[j]);
      // Eight lanes have the bits of one word.
#pragma unroll
      for (int step = 1; step < kLanesOfWord; step *= 2)
        word |= __shfl_xor_sync(kFullWarp, word, step);
      if (lane % kLanesOfWord == 0 && valid > 0)
        place.words[(j * kLanes + lane) / kLanesOfWord] = word;
    }
  }
}

/// A thread sums four values over all messages.
HEADWAY_KERNEL(decompress_one_bit, 256, DecompressOneBitParameters) {
  const DecompressOneBit& op = a.op;
  for (std::int64_t i = global_thread() * kQuad; i < op.count; i += global_threads() * kQuad) {
    const std::int64_t valid = op.count - i;
    const std::int64_t in_block = i % kOneBitBlock;
    float sums[kQuad] = {};
    for (int rank = 0; rank < op.ranks; ++rank) {
      const BlockPlace place =
          place_of(a.messages, const_cast<std::byte*>(op.messages) + rank * a.messages.bytes,
                   i / kOneBitBlock);
      const std::uint32_t bits = place.words[in_block / 32] >> in_block % 32;
#pragma unroll
      for (int k = 0; k < kQuad; ++k) sums[k] = plus(sums[k], place.means[bits >> k & 1U ? 0 : 1]);
    }
    store4(op.to + i, a.packed && valid >= kQuad, valid, sums);
  }
}

}  // namespace headway::kernels::cuda
