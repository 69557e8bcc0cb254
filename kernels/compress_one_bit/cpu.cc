// SPDX-License-Identifier: MIT
#include "kernels/compress_one_bit/op.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

constexpr std::int64_t kLanes = 32;
constexpr std::int64_t kQuad = 4;
constexpr std::int64_t kBlockMeans = 2 * std::int64_t{sizeof(float)};
constexpr std::int64_t kBlockWords = kOneBitBlock / 32;

/// The two means and the words of the block that begins with value `first` of all parts.
struct BlockPlace {
  std::int64_t means;  ///< offset in bytes
  std::int64_t words;
};
BlockPlace place_of(std::int64_t part, std::int64_t first) {
  const std::int64_t message = first / part * one_bit_message_bytes(part);
  const std::int64_t block = first % part / kOneBitBlock;
  return {message + block * kBlockMeans,
          message + part / kOneBitBlock * kBlockMeans + block * kBlockWords * 4};
}

/// Calls body(first value, end) for all blocks.
template <class Body>
void for_each_block(std::int64_t count, const Body& body) {
  const std::int64_t blocks = (count + kOneBitBlock - 1) / kOneBitBlock;
  parallel_for(blocks, kFlatGrain / kOneBitBlock, max_threads(),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t block = begin; block < end; ++block)
                   body(block * kOneBitBlock, std::min((block + 1) * kOneBitBlock, count));
               });
}

/// The sum and number of the values of one sign, by lane.
struct Lanes {
  std::array<float, kLanes> sums{};
  std::int64_t count = 0;

  void add(std::int64_t i, float value) {
    sums[static_cast<std::size_t>(i / kQuad % kLanes)] += value;
    ++count;
  }
  float mean() {
    for (std::size_t half = kLanes / 2; half > 0; half /= 2)
      for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return count > 0 ? sums[0] / static_cast<float>(count) : 0.0F;
  }
};

}  // namespace

void run(const CompressOneBit& op) {
  for_each_block(op.count, [&op](std::int64_t first, std::int64_t end) {
    Lanes positive;
    Lanes negative;
    std::array<std::uint32_t, kBlockWords> words{};
    for (std::int64_t i = first; i < end; ++i) {
      const float wanted = op.from[i] + op.residual[i];
      op.residual[i] = wanted;
      const bool is_positive = wanted >= 0;
      (is_positive ? positive : negative).add(i - first, wanted);
      if (is_positive) words[static_cast<std::size_t>((i - first) / 32)] |= 1U << (i - first) % 32;
    }
    const std::array<float, 2> means = {positive.mean(), negative.mean()};
    for (std::int64_t i = first; i < end; ++i) {
      const float left = op.residual[i] - means[op.residual[i] >= 0 ? 0 : 1];
      op.residual[i] = std::isfinite(left) ? left : 0.0F;
    }
    const BlockPlace place = place_of(op.part, first);
    std::memcpy(op.messages + place.means, means.data(), sizeof means);
    std::memcpy(op.messages + place.words, words.data(),
                static_cast<std::size_t>((end - first + 31) / 32) * sizeof(std::uint32_t));
  });
}

void run(const DecompressOneBit& op) {
  for_each_block(op.count, [&op](std::int64_t first, std::int64_t end) {
    std::fill(op.to + first, op.to + end, 0.0F);
    const BlockPlace place = place_of(op.part, first);
    for (int rank = 0; rank < op.ranks; ++rank) {
      const std::byte* message = op.messages + rank * one_bit_message_bytes(op.part);
      std::array<float, 2> means{};
      std::array<std::uint32_t, kBlockWords> words{};
      std::memcpy(means.data(), message + place.means, sizeof means);
      std::memcpy(words.data(), message + place.words,
                  static_cast<std::size_t>((end - first + 31) / 32) * sizeof(std::uint32_t));
      for (std::int64_t i = first; i < end; ++i) {
        const std::uint32_t bit =
            words[static_cast<std::size_t>((i - first) / 32)] >> (i - first) % 32 & 1U;
        op.to[i] += means[bit != 0 ? 0 : 1];
      }
    }
  });
}

}  // namespace headway::kernels
