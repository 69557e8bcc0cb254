// SPDX-License-Identifier: MIT
// Gradients of attention by one scheme, used twice. A block keeps rows of one kind, processes those
// of the other kind in tiles, and computes scores s and probabilities p again from what forward
// saved. With
//   dp = dy·valuesᵀ,  ds = p·(dp - share),  share = sum of dy·y along the depth of a query
// query rows sum ds·keys; key rows sum ds·queries and p·dy, with rows and columns of s and dp
// exchanged, so that both sums start from values in registers. Nothing is added to memory, so every
// run gives the same bits; this takes seven products instead of the five of a pass with atomics.
#include "kernels/attention/tiles.cuh"

namespace headway::kernels::cuda {

/// For a lane's rows: log2 of the sum of exponentials, and the share.
template <int kRowTiles>
struct QueryStatistics {
  float log2_sum[kRowTiles][2];
  float share[kRowTiles][2];
};

/// Also stores the shares for the keys' gradients. `first`: the warp's first position.
template <class T, int kDepth, int kRowTiles>
__device__ __forceinline__ QueryStatistics<kRowTiles> query_statistics(const AttentionParameters& a,
                                                                       const AttentionGroup& group,
                                                                       int first) {
  const HeadRows<const T> y = joined_rows<const T>(a, group, a.y);
  const HeadRows<const T> dy = joined_rows<const T>(a, group, a.dy);
  const int lane = threadIdx.x % kLanes;
  QueryStatistics<kRowTiles> of;
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = first + 16 * r + 8 * half + lane / 4;
      const bool there = i < group.window;
      float share = 0;
      for (int d = lane % 4 * 8; there && d < kDepth; d += 32) {
        float left[8];
        float right[8];
        load8(y.at(group.row(i)) + d, true, 8, left);
        load8(dy.at(group.row(i)) + d, true, 8, right);
#pragma unroll
        for (int k = 0; k < 8; ++k) share += left[k] * right[k];
      }
      share = row_sum(share);
      of.share[r][half] = share;
      of.log2_sum[r][half] = there ? a.lse[group.number * a.window + i] * kLog2OfE : 0.0F;
      if (there && lane % 4 == 0) a.shares[group.number * a.window + i] = share;
    }
  return of;
}

/// Copies the statistics of the queries of a tile, where columns are queries.
template <int kColumns>
__device__ __forceinline__ void copy_statistics(const AttentionParameters& a,
                                                const AttentionGroup& group, int column, float* lse,
                                                float* shares) {
  static_assert(2 * kColumns <= kAttentionThreads);
  if (threadIdx.x >= 2 * kColumns) return;
  const int at = threadIdx.x % kColumns;
  const bool there = column + at < group.window;
  const std::int64_t from = group.number * a.window + (there ? column + at : 0);
  if (threadIdx.x < kColumns)
    copy_async4(lse + at, a.lse + from, there);
  else
    copy_async4(shares + at, a.shares + from, there);
}

/// Turns scores into p, and products (dp) into ds. `log2_sum(r, c, i)` and `share(r, c, i)` return
/// the statistics of an entry's query.
template <int kRowTiles, int kColumnTiles, class LogSum, class Share>
__device__ __forceinline__ void differentiate(float log2_scale,
                                              float (&scores)[kRowTiles][kColumnTiles][4],
                                              float (&products)[kRowTiles][kColumnTiles][4],
                                              const LogSum& log2_sum, const Share& share) {
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r)
#pragma unroll
    for (int c = 0; c < kColumnTiles; ++c)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        scores[r][c][i] = fast_exp2(scores[r][c][i] * log2_scale - log2_sum(r, c, i));
        products[r][c][i] = scores[r][c][i] * (products[r][c][i] - share(r, c, i));
      }
}

template <int kRowTiles>
__device__ __forceinline__ void fill(float value, float (&array)[kRowTiles][2]) {
#pragma unroll
  for (int r = 0; r < kRowTiles; ++r) array[r][0] = array[r][1] = value;
}

/// dq of a block's queries.
template <class T, int kDepth>
__device__ __forceinline__ void gradient_of_queries(const AttentionParameters& a) {
  constexpr AttentionTiles kTiles = attention_tiles(AttentionPass::kQueries, kDepth);
  constexpr int kRows = kTiles.rows();
  constexpr int kColumns = kTiles.columns;
  constexpr int kRowTiles = kTiles.warp_rows / 16;
  T* const queries = reinterpret_cast<T*>(launched_shared());
  T* const dy = queries + kRows * kDepth;
  T* const keys = dy + kRows * kDepth;
  T* const values = keys + kColumns * kDepth;
  const BlockOfRows block = block_of_rows<kRows>(a, true);
  const AttentionGroup group(a, block.group);
  const HeadRows<const T> all_keys = part_rows<const T>(a, group, a.qkv, 1);
  const HeadRows<const T> all_values = part_rows<const T>(a, group, a.qkv, 2);
  const int row = threadIdx.x / kLanes * kTiles.warp_rows;
  const float scale = 1.0F / sqrtf(static_cast<float>(kDepth));
  const auto [begin, end] = columns_of_block<false, kColumns>(group, block.first, kRows);
  copy_rows<T, kDepth, kRows>(group, joined_rows<const T>(a, group, a.dy), block.first, dy);
  copy_rows<T, kDepth, kColumns>(group, all_values, begin, values);
  close_copies();
  copy_rows<T, kDepth, kRows>(group, part_rows<const T>(a, group, a.qkv, 0), block.first, queries);
  copy_rows<T, kDepth, kColumns>(group, all_keys, begin, keys);
  close_copies();
  const auto of = query_statistics<T, kDepth, kRowTiles>(a, group, block.first + row);
  float result[kRowTiles][kDepth / 8][4] = {};
  for (int column = begin; column < end; column += kColumns) {
    const Meeting pairs =
        meeting<false>(group, block.first + row, kTiles.warp_rows, column, kColumns);
    const bool more = column + kColumns < end;
    float scores[kRowTiles][kColumns / 8][4];
    float products[kRowTiles][kColumns / 8][4];
    wait_for_copies<1>();
    __syncthreads();  // the values have arrived
    if (pairs.any) multiply_tiles<T, kDepth>(dy, row, values, products);
    wait_for_copies<0>();
    __syncthreads();  // the keys have arrived; all warps have used the values
    if (more) copy_rows<T, kDepth, kColumns>(group, all_values, column + kColumns, values);
    close_copies();
    if (pairs.any) {
      multiply_tiles<T, kDepth>(queries, row, keys, scores);
      if (!pairs.all) hide_others<false>(group, block.first + row, column, scores);
      differentiate(
          scale * kLog2OfE, scores, products,
          [&](int r, int, int i) { return of.log2_sum[r][i / 2]; },
          [&](int r, int, int i) { return of.share[r][i / 2]; });
      add_weighted<T, kDepth>(products, keys, result);
    }
    __syncthreads();  // all warps have used the keys
    if (more) copy_rows<T, kDepth, kColumns>(group, all_keys, column + kColumns, keys);
    close_copies();
  }
  float by[kRowTiles][2];
  fill(scale, by);
  write_rows<T, kDepth>(group, result, by, queries, row, part_rows<T>(a, group, a.dqkv, 0),
                        block.first);
}

/// dk and dv of a block's keys, after gradient_of_queries.
template <class T, int kDepth>
__device__ __forceinline__ void gradient_of_keys(const AttentionParameters& a) {
  constexpr AttentionTiles kTiles = attention_tiles(AttentionPass::kKeys, kDepth);
  constexpr int kRows = kTiles.rows();
  constexpr int kColumns = kTiles.columns;
  constexpr int kRowTiles = kTiles.warp_rows / 16;
  T* const keys = reinterpret_cast<T*>(launched_shared());
  T* const values = keys + kRows * kDepth;
  T* const queries = values + kRows * kDepth;
  T* const dy = queries + kColumns * kDepth;
  float* const lse = reinterpret_cast<float*>(dy + kColumns * kDepth);
  float* const shares = lse + kColumns;
  const BlockOfRows block = block_of_rows<kRows>(a, false);
  const AttentionGroup group(a, block.group);
  const HeadRows<const T> all_queries = part_rows<const T>(a, group, a.qkv, 0);
  const HeadRows<const T> all_dy = joined_rows<const T>(a, group, a.dy);
  const int row = threadIdx.x / kLanes * kTiles.warp_rows;
  const int lane = threadIdx.x % kLanes;
  const float scale = 1.0F / sqrtf(static_cast<float>(kDepth));
  const auto [begin, end] = columns_of_block<true, kColumns>(group, block.first, kRows);
  copy_rows<T, kDepth, kRows>(group, part_rows<const T>(a, group, a.qkv, 2), block.first, values);
  copy_rows<T, kDepth, kColumns>(group, all_dy, begin, dy);
  close_copies();
  copy_rows<T, kDepth, kRows>(group, part_rows<const T>(a, group, a.qkv, 1), block.first, keys);
  copy_rows<T, kDepth, kColumns>(group, all_queries, begin, queries);
  copy_statistics<kColumns>(a, group, begin, lse, shares);
  close_copies();
  float of_keys[kRowTiles][kDepth / 8][4] = {};
  float of_values[kRowTiles][kDepth / 8][4] = {};
  for (int column = begin; column < end; column += kColumns) {
    const Meeting pairs =
        meeting<true>(group, block.first + row, kTiles.warp_rows, column, kColumns);
    const bool more = column + kColumns < end;
    float scores[kRowTiles][kColumns / 8][4];
    float products[kRowTiles][kColumns / 8][4];
    wait_for_copies<1>();
    __syncthreads();  // dy has arrived
    if (pairs.any) multiply_tiles<T, kDepth>(values, row, dy, products);
    wait_for_copies<0>();
    __syncthreads();  // queries and their statistics have arrived
    if (pairs.any) {
      multiply_tiles<T, kDepth>(keys, row, queries, scores);
      if (!pairs.all) hide_others<true>(group, block.first + row, column, scores);
      const auto at = [&](int c, int i) { return 8 * c + lane % 4 * 2 + i % 2; };
      differentiate(
          scale * kLog2OfE, scores, products,
          [&](int, int c, int i) { return lse[at(c, i)] * kLog2OfE; },
          [&](int, int c, int i) { return shares[at(c, i)]; });
      add_weighted<T, kDepth>(scores, dy, of_values);
    }
    __syncthreads();  // all warps have used dy
    if (more) copy_rows<T, kDepth, kColumns>(group, all_dy, column + kColumns, dy);
    close_copies();
    if (pairs.any) add_weighted<T, kDepth>(products, queries, of_keys);
    __syncthreads();  // all warps have used queries and statistics
    if (more) {
      copy_rows<T, kDepth, kColumns>(group, all_queries, column + kColumns, queries);
      copy_statistics<kColumns>(a, group, column + kColumns, lse, shares);
    }
    close_copies();
  }
  float by[kRowTiles][2];
  fill(scale, by);
  write_rows<T, kDepth>(group, of_keys, by, keys, row, part_rows<T>(a, group, a.dqkv, 1),
                        block.first);
  fill(1.0F, by);
  write_rows<T, kDepth>(group, of_values, by, values, row, part_rows<T>(a, group, a.dqkv, 2),
                        block.first);
}

#define HEADWAY_ATTENTION_BACKWARD(kDepth, suffix, T)                                              \
  HEADWAY_KERNEL(attention_mma_dq_d##kDepth##_##suffix, kAttentionThreads, AttentionParameters) {  \
    gradient_of_queries<T, kDepth>(a);                                                             \
  }                                                                                                \
  HEADWAY_KERNEL(attention_mma_dkv_d##kDepth##_##suffix, kAttentionThreads, AttentionParameters) { \
    gradient_of_keys<T, kDepth>(a);                                                                \
  }
#define HEADWAY_ATTENTION_BACKWARD_PER_FORMAT(kDepth) \
  HEADWAY_ATTENTION_BACKWARD(kDepth, f16, __half)     \
  HEADWAY_ATTENTION_BACKWARD(kDepth, bf16, __nv_bfloat16)

HEADWAY_ATTENTION_BACKWARD_PER_FORMAT(16)
HEADWAY_ATTENTION_BACKWARD_PER_FORMAT(32)
HEADWAY_ATTENTION_BACKWARD_PER_FORMAT(64)
HEADWAY_ATTENTION_BACKWARD_PER_FORMAT(128)

}  // namespace headway::kernels::cuda
