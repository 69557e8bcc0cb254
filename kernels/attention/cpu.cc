// SPDX-License-Identifier: MIT
#include "kernels/attention/op.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/loops/loops.h"
#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

/// Number of queries handled together: their scores against 256 keys take 48 KiB.
constexpr std::int64_t kQueries = 48;

/// Rounds up to whole cache lines, so that each row of a scratch array starts on one.
std::int64_t padded(std::int64_t floats) {
  return (floats + 15) / 16 * 16;
}

/// Scratch arrays of one thread, cut from one block that lives as long as the thread.
class Scratch {
 public:
  explicit Scratch(std::int64_t floats) {
    static thread_local std::vector<float> memory;
    if (static_cast<std::int64_t>(memory.size()) < floats)
      memory.resize(static_cast<std::size_t>(floats));
    next_ = memory.data();
  }
  float* take(std::int64_t floats) {
    float* const taken = next_;
    next_ += padded(floats);
    return taken;
  }

 private:
  float* next_;
};

/// One (sequence, window, head).
struct Group {
  std::int64_t b, n, h;
  Group(const AttentionShape& s, std::int64_t index)
      : b(index / (s.windows() * s.heads)), n(index / s.heads % s.windows()), h(index % s.heads) {}
};

/// Copies the rows of one head to packed memory. Part 0, 1, 2: queries, keys, values. `columns`:
/// length of the source's rows.
void pack(const AttentionShape& s, const Group& g, const float* from, std::int64_t columns,
          std::int64_t offset, float* to) {
  for (std::int64_t w = 0; w < s.window; ++w)
    std::memcpy(to + w * s.depth, from + s.row(g.b, g.n, w) * columns + offset,
                static_cast<std::size_t>(s.depth) * sizeof(float));
}

void unpack(const AttentionShape& s, const Group& g, const float* from, std::int64_t columns,
            std::int64_t offset, float* to) {
  for (std::int64_t w = 0; w < s.window; ++w)
    std::memcpy(to + s.row(g.b, g.n, w) * columns + offset, from + w * s.depth,
                static_cast<std::size_t>(s.depth) * sizeof(float));
}

std::int64_t part_offset(const AttentionShape& s, const Group& g, int part) {
  return part * s.columns() + g.h * s.depth;
}

/// scores = queries [first, first + count) · keysᵀ, for the keys that the last of these queries
/// sees.
void block_scores(const AttentionShape& s, const float* q, const float* keys_transposed,
                  std::int64_t first, std::int64_t count, float* scores) {
  const std::int64_t keys = std::min(s.window, (first + count + 7) / 8 * 8);
  loops().small_gemm({count, keys, s.depth, q + first * s.depth, s.depth, 1, keys_transposed,
                      s.window, scores, s.window, false});
}

void forward_group(const AttentionShape& s, const Group& g, const float* qkv, float* y,
                   float* lse) {
  const std::int64_t area = s.window * s.depth;
  Scratch scratch(3 * padded(area) + padded(kQueries * s.window) + padded(area));
  float* const packed = scratch.take(area);
  float* const keys = scratch.take(area);  // [depth][window]
  float* const values = scratch.take(area);
  float* const scores = scratch.take(kQueries * s.window);
  float* const result = scratch.take(area);
  const std::int64_t columns = 3 * s.columns();
  pack(s, g, qkv, columns, part_offset(s, g, 1), packed);
  loops().transpose(s.window, s.depth, packed, s.depth, 1 / std::sqrt(static_cast<float>(s.depth)),
                    keys, s.window);
  pack(s, g, qkv, columns, part_offset(s, g, 0), packed);
  pack(s, g, qkv, columns, part_offset(s, g, 2), values);
  for (std::int64_t first = 0; first < s.window; first += kQueries) {
    const std::int64_t count = std::min(kQueries, s.window - first);
    block_scores(s, packed, keys, first, count, scores);
    for (std::int64_t i = first; i < first + count; ++i) {
      float* const row = scores + (i - first) * s.window;
      const std::int64_t from = s.first_seen(g.n, i);
      const float largest = loops().row_largest(i + 1 - from, row + from);
      const float sum = loops().row_exp(i + 1 - from, row + from, largest, row + from);
      loops().sgd_scale(i + 1 - from, 1 / sum, row + from);
      std::fill(row, row + from, 0.0F);
      std::fill(row + i + 1, row + first + count, 0.0F);
      lse[i] = largest + std::log(sum);
    }
    loops().small_gemm({count, s.depth, first + count, scores, s.window, 1, values, s.depth,
                        result + first * s.depth, s.depth, false});
  }
  unpack(s, g, result, s.columns(), g.h * s.depth, y);
}

/// Arrays of the backward pass of one group.
struct BackwardGroup {
  float *q, *k, *keys, *v, *values, *dy, *dq, *dk, *dv, *p, *dp;
  float* shift;  ///< per query: sum of y·dy
  BackwardGroup(const AttentionShape& s, Scratch scratch) {
    const std::int64_t area = s.window * s.depth;
    for (float** each : {&q, &k, &keys, &v, &values, &dy, &dq, &dk, &dv})
      *each = scratch.take(area);
    for (float** each : {&p, &dp}) *each = scratch.take(kQueries * s.window);
    shift = scratch.take(s.window);
  }
  static std::int64_t floats(const AttentionShape& s) {
    return 9 * padded(s.window * s.depth) + 2 * padded(kQueries * s.window) + padded(s.window);
  }
};

/// Computes p, and ds (in place of dp), for the block's queries.
void block_gradients(const AttentionShape& s, const Group& g, const BackwardGroup& a,
                     const float* lse, std::int64_t first, std::int64_t count) {
  block_scores(s, a.q, a.keys, first, count, a.p);
  block_scores(s, a.dy, a.values, first, count, a.dp);
  for (std::int64_t i = first; i < first + count; ++i) {
    float* const p = a.p + (i - first) * s.window;
    float* const dp = a.dp + (i - first) * s.window;
    const std::int64_t from = s.first_seen(g.n, i);
    loops().row_exp(i + 1 - from, p + from, lse[i], p + from);
    loops().softmax_backward_row(i + 1 - from, p + from, dp + from, a.shift[i], dp + from);
    for (float* row : {p, dp}) {
      std::fill(row, row + from, 0.0F);
      std::fill(row + i + 1, row + first + count, 0.0F);
    }
  }
}

void backward_group(const AttentionShape& s, const Group& g, const float* qkv, const float* y,
                    const float* lse, const float* dy, float* dqkv) {
  const BackwardGroup a(s, Scratch(BackwardGroup::floats(s)));
  const std::int64_t columns = 3 * s.columns();
  const float scale = 1 / std::sqrt(static_cast<float>(s.depth));
  pack(s, g, qkv, columns, part_offset(s, g, 0), a.q);
  pack(s, g, qkv, columns, part_offset(s, g, 1), a.k);
  pack(s, g, qkv, columns, part_offset(s, g, 2), a.v);
  pack(s, g, dy, s.columns(), g.h * s.depth, a.dy);
  loops().transpose(s.window, s.depth, a.k, s.depth, scale, a.keys, s.window);
  loops().transpose(s.window, s.depth, a.v, s.depth, 1, a.values, s.window);
  for (std::int64_t w = 0; w < s.window; ++w)
    a.shift[w] = loops().row_dot(s.depth, y + s.row(g.b, g.n, w) * s.columns() + g.h * s.depth,
                                 a.dy + w * s.depth);
  std::fill_n(a.dk, s.window * s.depth, 0.0F);
  std::fill_n(a.dv, s.window * s.depth, 0.0F);
  for (std::int64_t first = 0; first < s.window; first += kQueries) {
    const std::int64_t count = std::min(kQueries, s.window - first);
    const std::int64_t seen = first + count;
    block_gradients(s, g, a, lse, first, count);
    loops().small_gemm({count, s.depth, seen, a.dp, s.window, 1, a.k, s.depth,
                        a.dq + first * s.depth, s.depth, false});
    loops().small_gemm({seen, s.depth, count, a.dp, 1, s.window, a.q + first * s.depth, s.depth,
                        a.dk, s.depth, true});
    loops().small_gemm({seen, s.depth, count, a.p, 1, s.window, a.dy + first * s.depth, s.depth,
                        a.dv, s.depth, true});
  }
  loops().sgd_scale(s.window * s.depth, scale, a.dq);
  loops().sgd_scale(s.window * s.depth, scale, a.dk);
  unpack(s, g, a.dq, columns, part_offset(s, g, 0), dqkv);
  unpack(s, g, a.dk, columns, part_offset(s, g, 1), dqkv);
  unpack(s, g, a.dv, columns, part_offset(s, g, 2), dqkv);
}

template <class Body>
void for_each_group(const AttentionShape& s, const Body& body) {
  const std::int64_t floats = s.window * (s.window + 2 * s.depth);
  const std::int64_t grain =
      std::max<std::int64_t>(1, kFlatGrain / std::max<std::int64_t>(1, floats));
  parallel_for(s.groups(), grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t index = begin; index < end; ++index) body(Group(s, index), index);
  });
}

/// The same shape without the roll, for arrays that were already rolled.
AttentionShape unrolled(AttentionShape s) {
  s.shift = 0;
  return s;
}

}  // namespace

void attention_forward(const AttentionShape& s, const float* qkv, float* y, float* lse) {
  for_each_group(s, [&](const Group& g, std::int64_t index) {
    forward_group(s, g, qkv, y, lse + index * s.window);
  });
}

void attention_backward(const AttentionShape& s, const float* qkv, const float* y, const float* lse,
                        const float* dy, float* dqkv) {
  for_each_group(s, [&](const Group& g, std::int64_t index) {
    backward_group(s, g, qkv, y, lse + index * s.window, dy, dqkv);
  });
}

void split_heads(const AttentionShape& shape, const float* qkv, float* q, float* k, float* v) {
  const AttentionShape s = unrolled(shape);
  for_each_group(s, [&](const Group& g, std::int64_t index) {
    const std::int64_t at = index * s.window * s.depth;
    pack(s, g, qkv, 3 * s.columns(), part_offset(s, g, 0), q + at);
    pack(s, g, qkv, 3 * s.columns(), part_offset(s, g, 1), k + at);
    pack(s, g, qkv, 3 * s.columns(), part_offset(s, g, 2), v + at);
  });
}

void join_heads(const AttentionShape& shape, const float* q, const float* k, const float* v,
                float* dqkv) {
  const AttentionShape s = unrolled(shape);
  for_each_group(s, [&](const Group& g, std::int64_t index) {
    const std::int64_t at = index * s.window * s.depth;
    unpack(s, g, q + at, 3 * s.columns(), part_offset(s, g, 0), dqkv);
    unpack(s, g, k + at, 3 * s.columns(), part_offset(s, g, 1), dqkv);
    unpack(s, g, v + at, 3 * s.columns(), part_offset(s, g, 2), dqkv);
  });
}

void merge_heads(const AttentionShape& shape, const float* parts, float* y) {
  const AttentionShape s = unrolled(shape);
  for_each_group(s, [&](const Group& g, std::int64_t index) {
    unpack(s, g, parts + index * s.window * s.depth, s.columns(), g.h * s.depth, y);
  });
}

void split_merged(const AttentionShape& shape, const float* dy, float* parts) {
  const AttentionShape s = unrolled(shape);
  for_each_group(s, [&](const Group& g, std::int64_t index) {
    pack(s, g, dy, s.columns(), g.h * s.depth, parts + index * s.window * s.depth);
  });
}

void attention_mask(const AttentionShape& s, const float* scores, float* masked) {
  for_each_group(s, [&](const Group& g, std::int64_t index) {
    for (std::int64_t i = 0; i < s.window; ++i) {
      const std::int64_t at = (index * s.window + i) * s.window;
      const std::int64_t from = s.first_seen(g.n, i);
      std::fill_n(masked + at, from, -1e30F);
      std::copy(scores + at + from, scores + at + i + 1, masked + at + from);
      std::fill_n(masked + at + i + 1, s.window - i - 1, -1e30F);
    }
  });
}

void roll_rows(std::int64_t batch, std::int64_t length, std::int64_t columns, std::int64_t shift,
               const float* from, float* to) {
  const std::int64_t grain = std::max<std::int64_t>(1, kFlatGrain / columns);
  const std::int64_t forward = (shift % length + length) % length;
  parallel_for(batch * length, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t source = row / length * length + (row + forward) % length;
      std::memcpy(to + row * columns, from + source * columns,
                  static_cast<std::size_t>(columns) * sizeof(float));
    }
  });
}

void batched_matmul(const BatchedMatmul& s, const float* a, const float* b, float* c) {
  const std::int64_t grain =
      std::max<std::int64_t>(1, kFlatGrain * 4 / std::max<std::int64_t>(1, s.m * s.n * s.k / 16));
  parallel_for(s.groups, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    Scratch scratch(padded(s.n * s.k));
    float* const packed = s.transpose_b ? scratch.take(s.n * s.k) : nullptr;
    for (std::int64_t g = begin; g < end; ++g) {
      const float* right = b + g * s.n * s.k;
      if (packed) {
        loops().transpose(s.n, s.k, right, s.k, 1, packed, s.n);
        right = packed;
      }
      loops().small_gemm({s.m, s.n, s.k, a + g * s.m * s.k, s.transpose_a ? 1 : s.k,
                          s.transpose_a ? s.m : 1, right, s.n, c + g * s.m * s.n, s.n, false});
    }
  });
}

}  // namespace headway::kernels
