// SPDX-License-Identifier: MIT
// A block has 128 queries of one window and head, a warp 32 of them, and processes the keys that
// they see in tiles of 64. Scores and probabilities stay in registers. The softmax is computed tile
// by tile; the sums so far are scaled down when a larger score appears (as in FlashAttention-2,
// arXiv 2307.08691). While a tile of keys is used, its values are loaded, and vice versa.
#include "kernels/attention/tiles.cuh"

namespace headway::kernels::cuda {

/// For the rows that a lane shares: the largest score so far, and the lane's part of the sum of
/// exponentials.
template <int kRowTiles>
struct SoftmaxRows {
  float largest[kRowTiles][2];
  float sum[kRowTiles][2];

  __device__ __forceinline__ SoftmaxRows() {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r)
#pragma unroll
      for (int half = 0; half < 2; ++half) largest[r][half] = -INFINITY, sum[r][half] = 0;
  }

  /// Turns scores into e^(scale · (score - largest)), with scale = log2_scale · ln 2. Scales the
  /// results down as the largest score grows.
  template <int kColumnTiles, int kDepthTiles>
  __device__ __forceinline__ void take(float log2_scale,
                                       float (&scores)[kRowTiles][kColumnTiles][4],
                                       float (&result)[kRowTiles][kDepthTiles][4]) {
#pragma unroll
    for (int r = 0; r < kRowTiles; ++r)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float next = largest[r][half];
#pragma unroll
        for (int c = 0; c < kColumnTiles; ++c)
          next = fmaxf(next, fmaxf(scores[r][c][2 * half], scores[r][c][2 * half + 1]));
        next = row_largest(next);
        // For a row that has seen no key yet, the exponent is taken relative to 0: the exponential
        // of minus infinity is then 0, not NaN.
        const float about = next == -INFINITY ? 0.0F : next * log2_scale;
        const float shrink = fast_exp2(largest[r][half] * log2_scale - about);
        largest[r][half] = next;
        sum[r][half] *= shrink;
#pragma unroll
        for (int c = 0; c < kColumnTiles; ++c)
#pragma unroll
          for (int i = 2 * half; i < 2 * half + 2; ++i) {
            scores[r][c][i] = fast_exp2(scores[r][c][i] * log2_scale - about);
            sum[r][half] += scores[r][c][i];
          }
#pragma unroll
        for (int d = 0; d < kDepthTiles; ++d)
#pragma unroll
          for (int i = 2 * half; i < 2 * half + 2; ++i) result[r][d][i] *= shrink;
      }
  }
};

template <class T, int kDepth>
__device__ __forceinline__ void attention_of_queries(const AttentionParameters& a) {
  constexpr AttentionTiles kTiles = attention_tiles(AttentionPass::kForward, kDepth);
  constexpr int kRows = kTiles.rows();
  constexpr int kColumns = kTiles.columns;
  constexpr int kRowTiles = kTiles.warp_rows / 16;
  T* const queries = reinterpret_cast<T*>(launched_shared());
  T* const keys = queries + kRows * kDepth;
  T* const values = keys + kColumns * kDepth;
  const BlockOfRows block = block_of_rows<kRows>(a, true);
  const AttentionGroup group(a, block.group);
  const HeadRows<const T> all_keys = part_rows<const T>(a, group, a.qkv, 1);
  const HeadRows<const T> all_values = part_rows<const T>(a, group, a.qkv, 2);
  const int row = threadIdx.x / kLanes * kTiles.warp_rows;  // of the warp, within the block
  const int lane = threadIdx.x % kLanes;
  const float scale = 1.0F / sqrtf(static_cast<float>(kDepth));
  const auto [begin, end] = columns_of_block<false, kColumns>(group, block.first, kRows);
  copy_rows<T, kDepth, kRows>(group, part_rows<const T>(a, group, a.qkv, 0), block.first, queries);
  copy_rows<T, kDepth, kColumns>(group, all_keys, begin, keys);
  close_copies();
  float result[kRowTiles][kDepth / 8][4] = {};
  SoftmaxRows<kRowTiles> softmax;
  for (int column = begin; column < end; column += kColumns) {
    wait_for_copies<0>();
    __syncthreads();  // the keys have arrived; all warps have used the previous values
    copy_rows<T, kDepth, kColumns>(group, all_values, column, values);
    close_copies();
    const Meeting pairs =
        meeting<false>(group, block.first + row, kTiles.warp_rows, column, kColumns);
    float scores[kRowTiles][kColumns / 8][4];
    if (pairs.any) multiply_tiles<T, kDepth>(queries, row, keys, scores);
    wait_for_copies<0>();
    __syncthreads();  // the values have arrived; all warps have used the keys
    if (column + kColumns < end)
      copy_rows<T, kDepth, kColumns>(group, all_keys, column + kColumns, keys);
    close_copies();
    if (!pairs.any) continue;  // the whole warp skips
    if (!pairs.all) hide_others<false>(group, block.first + row, column, scores);
    softmax.take(scale * kLog2OfE, scores, result);
    add_weighted<T, kDepth>(scores, values, result);
  }
  float by[kRowTiles][2];
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float sum = row_sum(softmax.sum[r][half]);
      const int i = block.first + row + 16 * r + 8 * half + lane / 4;
      by[r][half] = 1.0F / sum;
      if (lane % 4 == 0 && i < group.window)
        a.lse[group.number * a.window + i] = softmax.largest[r][half] * scale + logf(sum);
    }
  write_rows<T, kDepth>(group, result, by, queries, row,
                        joined_rows<T>(a, group, const_cast<void*>(a.y)), block.first);
}

#define HEADWAY_ATTENTION_FORWARD(kDepth, suffix, T)                            \
  HEADWAY_KERNEL(attention_mma_forward_d##kDepth##_##suffix, kAttentionThreads, \
                 AttentionParameters) {                                         \
    attention_of_queries<T, kDepth>(a);                                         \
  }
#define HEADWAY_ATTENTION_FORWARD_PER_FORMAT(kDepth) \
  HEADWAY_ATTENTION_FORWARD(kDepth, f16, __half)     \
  HEADWAY_ATTENTION_FORWARD(kDepth, bf16, __nv_bfloat16)

HEADWAY_ATTENTION_FORWARD_PER_FORMAT(16)
HEADWAY_ATTENTION_FORWARD_PER_FORMAT(32)
HEADWAY_ATTENTION_FORWARD_PER_FORMAT(64)
HEADWAY_ATTENTION_FORWARD_PER_FORMAT(128)

}  // namespace headway::kernels::cuda
