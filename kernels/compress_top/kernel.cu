// SPDX-License-Identifier: MIT
#include "kernels/compress_top/launch.h"

#include "kernels/cuda/device.cuh"

namespace headway::kernels::cuda {

constexpr int kThreads = 256;
constexpr int kMostBins = 1 << 11;
static_assert(kTopTile == kThreads * kQuad);

// These are functions, because device code cannot index the host's array.
__device__ __forceinline__ TopLevel level_of(int level) {
  constexpr TopLevel kFirst = kTopLevels[0];
  constexpr TopLevel kSecond = kTopLevels[1];
  constexpr TopLevel kThird = kTopLevels[2];
  return level == 0 ? kFirst : level == 1 ? kSecond : kThird;
}
/// The index of a level's first bin in TopScratch::bins.
__device__ __forceinline__ int first_bin(int level) {
  constexpr int kSecond = 1 << kTopLevels[0].bits;
  constexpr int kThird = kSecond + (1 << kTopLevels[1].bits);
  return level == 0 ? 0 : level == 1 ? kSecond : kThird;
}

__device__ __forceinline__ TopScratch& scratch_of(const CompressTopParameters& a) {
  return *reinterpret_cast<TopScratch*>(a.op.scratch);
}

/// The sum over the threads before this one, and (`all`) over all threads. All threads of the block
/// must call it.
__device__ inline unsigned sum_before(unsigned mine, unsigned& all) {
  __shared__ unsigned warps[kThreads / kLanes];
  const int lane = threadIdx.x % kLanes;
  unsigned sum = mine;
#pragma unroll
  for (int step = 1; step < kLanes; step *= 2) {
    const unsigned below = __shfl_up_sync(kFullWarp, sum, step);
    if (lane >= step) sum += below;
  }
  __syncthreads();  // the sums of the previous call may still be read
  if (lane == kLanes - 1) warps[threadIdx.x / kLanes] = sum;
  __syncthreads();
  unsigned before = sum - mine;
  all = 0;
#pragma unroll
  for (int w = 0; w < kThreads / kLanes; ++w) {
    if (w < static_cast<int>(threadIdx.x / kLanes)) before += warps[w];
    all += warps[w];
  }
  return before;
}

/// The smallest magnitude that is sent, as far as its bits are known, and how many values with
/// these bits are sent.
struct TopCut {
  std::uint32_t prefix;
  std::uint32_t left;
};
__device__ __forceinline__ TopCut cut_after(const CompressTopParameters& a, int level) {
  if (level < 0) return {0, static_cast<std::uint32_t>(a.op.entries)};
  return {scratch_of(a).prefix[level], scratch_of(a).left[level]};
}

/// Goes down the bins of a level, which must be complete, to the bin that contains the last value
/// that is sent. Every block does this; the first one stores the result. Bin 0 is not counted,
/// because its count is not needed and all zeros would contend for one word.
__device__ inline TopCut descend(const CompressTopParameters& a, int level) {
  __shared__ TopCut found;
  const TopCut from = cut_after(a, level - 1);
  const TopLevel at = level_of(level);
  const int bins = 1 << at.bits;
  const int each = bins / kThreads;
  const std::uint32_t* const counts = scratch_of(a).bins + first_bin(level);
  const int top = bins - 1 - static_cast<int>(threadIdx.x) * each;
  unsigned mine = 0;
  for (int b = 0; b < each; ++b) mine += counts[top - b];
  unsigned all = 0;
  unsigned before = sum_before(mine, all);
  if (before < from.left && from.left <= before + mine) {
    int bin = top;
    while (from.left > before + counts[bin]) before += counts[bin--];
    found = {from.prefix | static_cast<std::uint32_t>(bin) << at.shift, from.left - before};
  }
  if (threadIdx.x == 0 && from.left > all) found = {from.prefix, from.left - all};
  __syncthreads();
  const TopCut result = found;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    scratch_of(a).prefix[level] = result.prefix;
    scratch_of(a).left[level] = result.left;
  }
  return result;
}

/// Counts a block's values for one level in shared memory, and adds the counts to the global ones.
/// Values with other prefixes are left out.
struct BinCounter {
  unsigned* bins;
  TopLevel level;
  std::uint32_t prefix;
  __device__ void clear() const {
    for (int b = threadIdx.x; b < 1 << level.bits; b += kThreads) bins[b] = 0;
    __syncthreads();
  }
  __device__ void count(float value) const {
    const std::uint32_t bits = magnitude_bits(value);
    const int known = level.shift + level.bits;
    const std::uint32_t bin = bits >> level.shift & ((1U << level.bits) - 1U);
    if (bits >> known == prefix >> known && bin != 0) atomicAdd(&bins[bin], 1U);
  }
  __device__ void add_to(std::uint32_t* all) const {
    __syncthreads();
    for (int b = threadIdx.x; b < 1 << level.bits; b += kThreads)
      if (bins[b] != 0) atomicAdd(&all[b], bins[b]);
  }
};

HEADWAY_KERNEL(top_clear, 256, CompressTopParameters) {
  constexpr int kAll = sizeof(TopScratch::bins) / sizeof(std::uint32_t);
  for (std::int64_t b = global_thread(); b < kAll; b += global_threads()) scratch_of(a).bins[b] = 0;
}

/// Updates u and v, and counts the bins of the first level.
HEADWAY_KERNEL(top_accumulate, 256, CompressTopParameters) {
  __shared__ unsigned bins[kMostBins];
  const CompressTop& op = a.op;
  const BinCounter counter{bins, level_of(0), 0};
  counter.clear();
  for (std::int64_t i = global_thread() * kQuad; i < op.count; i += global_threads() * kQuad) {
    const std::int64_t valid = op.count - i;
    const bool packed = a.packed && valid >= kQuad;
    float g[kQuad], u[kQuad], v[kQuad];
    load4(op.gradient + i, packed, valid, g);
    load4(op.momentum + i, packed, valid, u);
    load4(op.waiting + i, packed, valid, v);
#pragma unroll
    for (int k = 0; k < kQuad; ++k) {
      u[k] = plus(times(op.factor, u[k]), g[k]);
      v[k] = plus(v[k], u[k]);
      if (k < valid) counter.count(v[k]);
    }
    store4(op.momentum + i, packed, valid, u);
    store4(op.waiting + i, packed, valid, v);
  }
  counter.add_to(scratch_of(a).bins);
}

/// Counts the bins of a later level.
HEADWAY_KERNEL(top_search, 256, CompressTopParameters) {
  __shared__ unsigned bins[kMostBins];
  const TopCut cut = descend(a, a.level - 1);
  const BinCounter counter{bins, level_of(a.level), cut.prefix};
  counter.clear();
  for (std::int64_t i = global_thread() * kQuad; i < a.op.count; i += global_threads() * kQuad) {
    const std::int64_t valid = a.op.count - i;
    float v[kQuad];
    load4(a.op.waiting + i, a.packed && valid >= kQuad, valid, v);
#pragma unroll
    for (int k = 0; k < kQuad; ++k)
      if (k < valid) counter.count(v[k]);
  }
  counter.add_to(scratch_of(a).bins + first_bin(a.level));
}

/// Compares this thread's values in the tile that begins at `tile`: returns how many are larger
/// than the smallest magnitude that is sent, plus 2^16 times how many are equal to it.
__device__ __forceinline__ unsigned compare_quad(const CompressTopParameters& a, std::int64_t tile,
                                                 std::uint32_t smallest, float (&v)[kQuad]) {
  const std::int64_t i = tile + threadIdx.x * kQuad;
  const std::int64_t valid = a.op.count - i;
  load4(a.op.waiting + (valid > 0 ? i : 0), a.packed && valid >= kQuad, valid, v);
  unsigned counts = 0;
#pragma unroll
  for (int k = 0; k < kQuad; ++k) {
    if (k >= valid) continue;
    const std::uint32_t bits = magnitude_bits(v[k]);
    counts += (bits > smallest ? 1U : 0U) + (bits == smallest ? 1U << 16 : 0U);
  }
  return counts;
}

HEADWAY_KERNEL(top_count, 256, CompressTopParameters) {
  const TopCut cut = descend(a, 2);
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * a.piece;
  unsigned above = 0;
  unsigned equal = 0;
  for (std::int64_t tile = begin; tile < begin + a.piece && tile < a.op.count; tile += kTopTile) {
    float v[kQuad];
    const unsigned counts = compare_quad(a, tile, cut.prefix, v);
    above += counts & 0xFFFFU;
    equal += counts >> 16;
  }
  above = group_sum<kThreads>(above);
  equal = group_sum<kThreads>(equal);
  if (threadIdx.x != 0) return;
  scratch_of(a).above[blockIdx.x] = above;
  scratch_of(a).equal[blockIdx.x] = equal;
}

/// Writes the message. A value's place is the number of values before it that are sent: all larger
/// ones, and equal ones as long as there is room for them.
HEADWAY_KERNEL(top_write, 256, CompressTopParameters) {
  const CompressTop& op = a.op;
  const TopCut cut = cut_after(a, 2);
  unsigned above = 0;
  unsigned equal = 0;
  for (unsigned piece = threadIdx.x; piece < blockIdx.x; piece += kThreads) {
    above += scratch_of(a).above[piece];
    equal += scratch_of(a).equal[piece];
  }
  above = group_sum<kThreads>(above);
  equal = group_sum<kThreads>(equal);
  auto* const message = reinterpret_cast<std::uint32_t*>(op.message);
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * a.piece;
  for (std::int64_t tile = begin; tile < begin + a.piece && tile < op.count; tile += kTopTile) {
    float v[kQuad];
    unsigned all = 0;
    const unsigned before = sum_before(compare_quad(a, tile, cut.prefix, v), all);
    unsigned larger = above + (before & 0xFFFFU);
    unsigned same = equal + (before >> 16);
    above += all & 0xFFFFU;
    equal += all >> 16;
#pragma unroll
    for (int k = 0; k < kQuad; ++k) {
      const std::int64_t i = tile + threadIdx.x * kQuad + k;
      const std::uint32_t bits = magnitude_bits(v[k]);
      if (i >= op.count || bits < cut.prefix) continue;
      const bool sent = bits > cut.prefix || same < cut.left;
      if (sent) {
        const std::int64_t at =
            2 * static_cast<std::int64_t>(larger + (same < cut.left ? same : cut.left));
        message[at] = static_cast<std::uint32_t>(i);
        reinterpret_cast<float*>(message)[at + 1] = v[k];
        op.waiting[i] = 0;
        op.momentum[i] = 0;
      }
      larger += bits > cut.prefix;
      same += bits == cut.prefix;
    }
  }
}

/// The first entry of a message whose index is at least `index`.
__device__ __forceinline__ std::int64_t first_entry(const std::uint32_t* message,
                                                    std::int64_t entries, std::int64_t index) {
  std::int64_t low = 0;
  std::int64_t high = entries;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (message[2 * middle] < index)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

HEADWAY_KERNEL(decompress_top, 256, DecompressTopParameters) {
  alignas(16) __shared__ float sums[kTopSums];
  __shared__ std::int64_t begins[kThreads];
  const DecompressTop& op = a.op;
  auto message = [&](int rank) {
    return reinterpret_cast<const std::uint32_t*>(op.messages) + 2 * op.entries * rank;
  };
  for (std::int64_t tile = blockIdx.x * kTopSums; tile < op.count; tile += gridDim.x * kTopSums) {
    const std::int64_t end = tile + kTopSums < op.count ? tile + kTopSums : op.count;
    for (int k = threadIdx.x; k < kTopSums; k += kThreads) sums[k] = 0;
    for (int first = 0; first < op.ranks; first += kThreads) {
      const int mine = first + static_cast<int>(threadIdx.x);
      __syncthreads();
      if (mine < op.ranks) begins[threadIdx.x] = first_entry(message(mine), op.entries, tile);
      __syncthreads();
      for (int rank = first; rank < op.ranks && rank < first + kThreads; ++rank) {
        const std::uint32_t* const entry = message(rank);
        for (std::int64_t e = begins[rank - first] + threadIdx.x; e < op.entries; e += kThreads) {
          const std::uint32_t index = entry[2 * e];
          if (index >= end) break;
          float& sum = sums[index - tile];
          sum = plus(sum, reinterpret_cast<const float*>(entry)[2 * e + 1]);
        }
        __syncthreads();  // the next rank's value is added after this one's
      }
    }
    for (std::int64_t i = tile + threadIdx.x * kQuad; i < end; i += kThreads * kQuad) {
      float four[kQuad];
      load4(sums + (i - tile), true, kQuad, four);
      store4(op.to + i, a.packed && end - i >= kQuad, end - i, four);
    }
    __syncthreads();
  }
}

}  // namespace headway::kernels::cuda
