// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// Causal self-attention over windows of a sequence, from the joint projection qkv
/// [batch·length][3·heads·depth] (queries of all heads, then keys, then values) to
/// y [batch·length][heads·depth]:
///   p = softmax(q·kᵀ / sqrt(depth)) over the positions that position i may see,  y = p·v
/// The sequence is rolled by `shift` and then cut into windows of `window` positions: position w of
/// window n is token (n·window + w + shift) mod length. i sees j when both are in the same window,
/// j <= i, and both lie on the same side of the place where the roll wraps around. window = length
/// and shift = 0 is plain causal attention.
struct AttentionShape {
  std::int64_t batch = 0;
  std::int64_t length = 0;
  std::int64_t heads = 0;
  std::int64_t depth = 0;   ///< of one head
  std::int64_t window = 0;  ///< divides length
  std::int64_t shift = 0;   ///< 0 <= shift < window

  std::int64_t windows() const { return length / window; }
  std::int64_t groups() const { return batch * windows() * heads; }
  std::int64_t columns() const { return heads * depth; }
  /// Row of position `w` of window `n` of sequence `b`.
  std::int64_t row(std::int64_t b, std::int64_t n, std::int64_t w) const {
    return b * length + (n * window + w + shift) % length;
  }
  /// The first position that position i of window n sees.
  std::int64_t first_seen(std::int64_t n, std::int64_t i) const {
    const std::int64_t wrap = window - shift;  // in the last window, tokens 0... begin here
    return shift > 0 && n + 1 == windows() && i >= wrap ? wrap : 0;
  }
  /// Pairs (i, j) of all windows with j <= i, masked ones included.
  std::int64_t pairs() const { return groups() * window * (window + 1) / 2; }
};

/// One pass: scores stay in the cache of the thread that computes them. `lse` [groups·window] keeps
/// max + log sum e^(score - max) of each row for backward; groups are numbered batch, window, head.
void attention_forward(const AttentionShape& shape, const float* qkv, float* y, float* lse);
/// Computes dqkv from the gradient of y; scores are computed again from qkv and lse.
void attention_backward(const AttentionShape& shape, const float* qkv, const float* y,
                        const float* lse, const float* dy, float* dqkv);

inline Work attention_forward_work(const AttentionShape& s) {
  return {s.pairs() * (4 * s.depth + 6), 16 * s.batch * s.length * s.columns()};
}
inline Work attention_backward_work(const AttentionShape& s) {
  return {s.pairs() * (10 * s.depth + 10), 32 * s.batch * s.length * s.columns()};
}

/// The ops of unfused attention; groups as above, all arrays are [groups·window][...].
/// Splits rows of qkv, which were already rolled, into q, k and v of [depth] each.
void split_heads(const AttentionShape& shape, const float* qkv, float* q, float* k, float* v);
/// The reverse: for gradients (three parts) and for the result (one part).
void join_heads(const AttentionShape& shape, const float* q, const float* k, const float* v,
                float* dqkv);
void merge_heads(const AttentionShape& shape, const float* parts, float* y);
void split_merged(const AttentionShape& shape, const float* dy, float* parts);
/// Masks each row of scores [window]: sets -1e30 where i does not see j.
void attention_mask(const AttentionShape& shape, const float* scores, float* masked);
/// Moves the rows of every sequence by `shift` places: to[b, t] = from[b, (t + shift) mod length].
void roll_rows(std::int64_t batch, std::int64_t length, std::int64_t columns, std::int64_t shift,
               const float* from, float* to);
/// c[g] = a[g]·b[g] for each of `groups` products; transposed operands are stored [k][m] or [n][k].
struct BatchedMatmul {
  std::int64_t groups = 0;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
};
void batched_matmul(const BatchedMatmul& shape, const float* a, const float* b, float* c);
inline Work batched_matmul_work(const BatchedMatmul& s) {
  return {2 * s.groups * s.m * s.n * s.k, 4 * s.groups * (s.m * s.k + s.k * s.n + s.m * s.n)};
}

namespace reference {
void attention_forward(const AttentionShape& shape, const float* qkv, float* y);
}

}  // namespace headway::kernels
