// SPDX-License-Identifier: MIT
// A block has eight rows of one window and head (queries, or keys when it computes dk and dv), one
// per warp. Rows of the other kind come in tiles of 32: each lane computes the score of one of
// them, and then sums every 32nd element of the result.
#include "kernels/attention/kernel.cuh"

namespace headway::kernels::cuda {

constexpr int kRows = 8;
constexpr int kTile = 32;

/// The window and head that a block works on, and its first row.
struct Block : AttentionGroup {
  int first;

  __device__ explicit Block(const AttentionParameters& a)
      : AttentionGroup(a, blockIdx.x / blocks(a)),
        first(static_cast<int>(blockIdx.x % blocks(a)) * kRows) {}
  __device__ static unsigned blocks(const AttentionParameters& a) {
    return static_cast<unsigned>((a.window + kRows - 1) / kRows);
  }
};

/// Loads rows from..from+count of an array [row][stride] into shared memory; this head begins at
/// `offset`. Elements beyond the window and the depth are 0.
template <class T, int kDepth, int kCount>
__device__ void load_rows(const AttentionParameters& a, const Block& block, const void* array,
                          std::int64_t stride, std::int64_t offset, int from,
                          float (&to)[kCount][kDepth + 1]) {
  for (int i = threadIdx.x; i < kCount * kDepth; i += blockDim.x) {
    const int w = from + i / kDepth;
    const int d = i % kDepth;
    to[i / kDepth][d] =
        w < block.window && d < a.depth
            ? to_float(static_cast<const T*>(array)[block.row(w) * stride + offset + d])
            : 0.0F;
  }
}

template <int kDepth>
__device__ __forceinline__ float dot(const float* x, const float* y) {
  float sum = 0;
#pragma unroll 16
  for (int d = 0; d < kDepth; ++d) sum += x[d] * y[d];
  return sum;
}

/// result[k] += sum over the tile's rows j of weight_j · tile[j][lane + 32k].
template <int kDepth>
__device__ __forceinline__ void add_rows(float weight, const float (&tile)[kTile][kDepth + 1],
                                         float (&result)[kDepth / kLanes]) {
  const int lane = threadIdx.x % kLanes;
  for (int j = 0; j < kTile; ++j) {
    const float each = __shfl_sync(kFullWarp, weight, j);
#pragma unroll
    for (int k = 0; k < kDepth / kLanes; ++k) result[k] += each * tile[j][lane + kLanes * k];
  }
}

template <class T, int kDepth>
__device__ void store_row(const AttentionParameters& a, void* array, std::int64_t at, float scale,
                          const float (&result)[kDepth / kLanes]) {
  const int lane = threadIdx.x % kLanes;
#pragma unroll
  for (int k = 0; k < kDepth / kLanes; ++k)
    if (lane + kLanes * k < a.depth)
      static_cast<T*>(array)[at + lane + kLanes * k] = from_float<T>(result[k] * scale);
}

template <class T, int kDepth>
__device__ void forward(const AttentionParameters& a) {
  __shared__ float queries[kRows][kDepth + 1];
  __shared__ float keys[kTile][kDepth + 1];
  __shared__ float values[kTile][kDepth + 1];
  const Block block(a);
  const std::int64_t columns = a.heads * a.depth;
  const std::int64_t own = block.head * a.depth;
  const int warp = threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const int i = block.first + warp;
  const int seen_from = block.first_seen(i);
  const float scale = 1.0F / sqrtf(static_cast<float>(a.depth));
  float result[kDepth / kLanes] = {};
  float largest = -INFINITY;
  float sum = 0;
  load_rows<T, kDepth>(a, block, a.qkv, 3 * columns, own, block.first, queries);
  for (int first = 0; first < block.first + kRows && first < block.window; first += kTile) {
    __syncthreads();
    load_rows<T, kDepth>(a, block, a.qkv, 3 * columns, columns + own, first, keys);
    load_rows<T, kDepth>(a, block, a.qkv, 3 * columns, 2 * columns + own, first, values);
    __syncthreads();
    const int j = first + lane;
    const bool seen = j <= i && j >= seen_from;
    const float score = seen ? dot<kDepth>(queries[warp], keys[lane]) * scale : -INFINITY;
    const float next = fmaxf(largest, warp_largest(score));
    if (next == -INFINITY) continue;  // the whole warp skips: this query sees none of the tile
    const float shrink = expf(largest - next);
    const float p = seen ? expf(score - next) : 0.0F;
    largest = next;
    sum = sum * shrink + warp_sum(p);
#pragma unroll
    for (int k = 0; k < kDepth / kLanes; ++k) result[k] *= shrink;
    add_rows<kDepth>(p, values, result);
  }
  if (i >= block.window) return;
  store_row<T, kDepth>(a, const_cast<void*>(a.y), block.row(i) * columns + own, 1.0F / sum, result);
  if (lane == 0) a.lse[block.number * a.window + i] = largest + logf(sum);
}

/// dq of eight queries, and each query's sum of dy·y, which dk and dv also need.
template <class T, int kDepth>
__device__ void query_gradient(const AttentionParameters& a) {
  __shared__ float queries[kRows][kDepth + 1];
  __shared__ float gradients[kRows][kDepth + 1];
  __shared__ float keys[kTile][kDepth + 1];
  __shared__ float values[kTile][kDepth + 1];
  const Block block(a);
  const std::int64_t columns = a.heads * a.depth;
  const std::int64_t own = block.head * a.depth;
  const int warp = threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const int i = block.first + warp;
  const bool there = i < block.window;
  const int seen_from = block.first_seen(i);
  const float scale = 1.0F / sqrtf(static_cast<float>(a.depth));
  const float lse = there ? a.lse[block.number * a.window + i] : 0.0F;
  float share = 0;
  if (there)
    for (std::int64_t d = lane; d < a.depth; d += kLanes) {
      const std::int64_t at = block.row(i) * columns + own + d;
      share += to_float(static_cast<const T*>(a.y)[at]) * to_float(static_cast<const T*>(a.dy)[at]);
    }
  share = warp_sum(share);
  if (there && lane == 0) a.shares[block.number * a.window + i] = share;
  float result[kDepth / kLanes] = {};
  load_rows<T, kDepth>(a, block, a.qkv, 3 * columns, own, block.first, queries);
  load_rows<T, kDepth>(a, block, a.dy, columns, own, block.first, gradients);
  for (int first = 0; first < block.first + kRows && first < block.window; first += kTile) {
    __syncthreads();
    load_rows<T, kDepth>(a, block, a.qkv, 3 * columns, columns + own, first, keys);
    load_rows<T, kDepth>(a, block, a.qkv, 3 * columns, 2 * columns + own, first, values);
    __syncthreads();
    const int j = first + lane;
    float ds = 0;
    if (there && j <= i && j >= seen_from) {
      const float p = expf(dot<kDepth>(queries[warp], keys[lane]) * scale - lse);
      ds = p * (dot<kDepth>(gradients[warp], values[lane]) - share);
    }
    add_rows<kDepth>(ds, keys, result);
  }
  if (there) store_row<T, kDepth>(a, a.dqkv, block.row(i) * 3 * columns + own, scale, result);
}

/// dk and dv of eight keys, after query_gradient.
template <class T, int kDepth>
__device__ void key_gradient(const AttentionParameters& a) {
  __shared__ float keys[kRows][kDepth + 1];
  __shared__ float values[kRows][kDepth + 1];
  __shared__ float queries[kTile][kDepth + 1];
  __shared__ float gradients[kTile][kDepth + 1];
  const Block block(a);
  const std::int64_t columns = a.heads * a.depth;
  const std::int64_t own = block.head * a.depth;
  const int warp = threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  const int j = block.first + warp;
  const bool there = j < a.window;
  const float scale = 1.0F / sqrtf(static_cast<float>(a.depth));
  float dk[kDepth / kLanes] = {};
  float dv[kDepth / kLanes] = {};
  load_rows<T, kDepth>(a, block, a.qkv, 3 * columns, columns + own, block.first, keys);
  load_rows<T, kDepth>(a, block, a.qkv, 3 * columns, 2 * columns + own, block.first, values);
  for (int first = block.first / kTile * kTile; first < block.window; first += kTile) {
    __syncthreads();
    load_rows<T, kDepth>(a, block, a.qkv, 3 * columns, own, first, queries);
    load_rows<T, kDepth>(a, block, a.dy, columns, own, first, gradients);
    __syncthreads();
    const int i = first + lane;
    float p = 0;
    float ds = 0;
    if (there && i < block.window && j <= i && j >= block.first_seen(i)) {
      const std::int64_t at = block.number * a.window + i;
      p = expf(dot<kDepth>(queries[lane], keys[warp]) * scale - a.lse[at]);
      ds = p * (dot<kDepth>(gradients[lane], values[warp]) - a.shares[at]);
    }
    add_rows<kDepth>(ds, queries, dk);
    add_rows<kDepth>(p, gradients, dv);
  }
  if (!there) return;
  const std::int64_t at = block.row(j) * 3 * columns + own;
  store_row<T, kDepth>(a, a.dqkv, at + columns, scale, dk);
  store_row<T, kDepth>(a, a.dqkv, at + 2 * columns, 1.0F, dv);
}

#define HEADWAY_ATTENTION(kDepth, suffix, T)                                         \
  HEADWAY_KERNEL(attention_forward_d##kDepth##_##suffix, 256, AttentionParameters) { \
    forward<T, kDepth>(a);                                                           \
  }                                                                                  \
  HEADWAY_KERNEL(attention_dq_d##kDepth##_##suffix, 256, AttentionParameters) {      \
    query_gradient<T, kDepth>(a);                                                    \
  }                                                                                  \
  HEADWAY_KERNEL(attention_dkv_d##kDepth##_##suffix, 256, AttentionParameters) {     \
    key_gradient<T, kDepth>(a);                                                      \
  }
#define HEADWAY_ATTENTION_PER_FORMAT(kDepth) \
  HEADWAY_ATTENTION(kDepth, f32, float)      \
  HEADWAY_ATTENTION(kDepth, f16, __half)     \
  HEADWAY_ATTENTION(kDepth, bf16, __nv_bfloat16)

HEADWAY_ATTENTION_PER_FORMAT(32)
HEADWAY_ATTENTION_PER_FORMAT(64)
HEADWAY_ATTENTION_PER_FORMAT(128)

}  // namespace headway::kernels::cuda
