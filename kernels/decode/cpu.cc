// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/decode/op.h"
#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

float* place_of(const DecodeShape& s, float* cache, std::int64_t group, std::int64_t position) {
  return cache + (group * s.length + position) * s.depth;
}

float dot(std::int64_t count, const float* a, const float* b) {
  float sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

/// Attention of one head of one sequence; `scores` has room for all positions.
void attend(const DecodeShape& s, std::int64_t position, const float* query, const float* keys,
            const float* values, float* scores, float* y) {
  const float scale = 1 / std::sqrt(static_cast<float>(s.depth));
  float most = -std::numeric_limits<float>::infinity();
  for (std::int64_t p = 0; p <= position; ++p) {
    scores[p] = scale * dot(s.depth, query, keys + p * s.depth);
    most = std::max(most, scores[p]);
  }
  float sum = 0;
  for (std::int64_t p = 0; p <= position; ++p) sum += scores[p] = std::exp(scores[p] - most);
  std::fill_n(y, s.depth, 0.0F);
  for (std::int64_t p = 0; p <= position; ++p)
    for (std::int64_t d = 0; d < s.depth; ++d) y[d] += scores[p] / sum * values[p * s.depth + d];
}

}  // namespace

void cached_attention(const DecodeShape& s, std::int64_t position, const float* qkv, float* keys,
                      float* values, float* y) {
  parallel_for(s.batch * s.heads, 1, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> scores(static_cast<std::size_t>(position + 1));
    for (std::int64_t group = begin; group < end; ++group) {
      const float* query = qkv + group / s.heads * 3 * s.columns() + group % s.heads * s.depth;
      std::copy_n(query + s.columns(), s.depth, place_of(s, keys, group, position));
      std::copy_n(query + 2 * s.columns(), s.depth, place_of(s, values, group, position));
      attend(s, position, query, place_of(s, keys, group, 0), place_of(s, values, group, 0),
             scores.data(), y + group * s.depth);
    }
  });
}

void fill_cache(const DecodeShape& s, std::int64_t tokens, const float* qkv, float* keys,
                float* values) {
  parallel_for(s.batch * tokens, 1, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t head = 0; head < s.heads; ++head) {
        const std::int64_t group = row / tokens * s.heads + head;
        const float* key = qkv + (3 * row + 1) * s.columns() + head * s.depth;
        std::copy_n(key, s.depth, place_of(s, keys, group, row % tokens));
        std::copy_n(key + s.columns(), s.depth, place_of(s, values, group, row % tokens));
      }
  });
}

void embedding_at(std::int64_t tokens, std::int64_t columns, std::int64_t position,
                  const std::int32_t* token, const float* table, const float* positions, float* y) {
  for (std::int64_t n = 0; n < tokens; ++n)
    for (std::int64_t c = 0; c < columns; ++c)
      y[n * columns + c] = table[token[n] * columns + c] + positions[position * columns + c];
}

void largest_of_rows(std::int64_t rows, std::int64_t columns, const float* x, std::int32_t* place) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const float* begin = x + row * columns;
    place[row] = static_cast<std::int32_t>(std::max_element(begin, begin + columns) - begin);
  }
}

}  // namespace headway::kernels
