// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

/// Ops of a transformer that generates one token after another: attention over stored keys and
/// values (a KV cache), and the choice of the next token.
namespace headway::kernels {

struct DecodeShape {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t depth = 0;   ///< of one head
  std::int64_t length = 0;  ///< capacity of the cache in tokens

  std::int64_t columns() const { return heads * depth; }
};

/// qkv [batch][3·heads·depth] of the tokens at `position` (0 to length - 1). Stores keys and values
/// at this position of the cache (each [batch·heads·length][depth]). y [batch][heads·depth] is the
/// attention to all positions up to it.
void cached_attention(const DecodeShape& shape, std::int64_t position, const float* qkv,
                      float* keys, float* values, float* y);
/// qkv [batch·tokens][3·heads·depth]: stores keys and values at the first `tokens` positions.
void fill_cache(const DecodeShape& shape, std::int64_t tokens, const float* qkv, float* keys,
                float* values);
/// y[n] = table[token[n]] + positions[position], rows of `columns` floats.
void embedding_at(std::int64_t tokens, std::int64_t columns, std::int64_t position,
                  const std::int32_t* token, const float* table, const float* positions, float* y);
/// The column of the largest value in each row; the first of equal ones.
void largest_of_rows(std::int64_t rows, std::int64_t columns, const float* x, std::int32_t* place);

/// The work with a full cache.
inline Work cached_attention_work(const DecodeShape& s) {
  return {s.batch * s.heads * s.length * (4 * s.depth + 5),
          8 * s.batch * s.columns() * s.length + 24 * s.batch * s.columns()};
}

}  // namespace headway::kernels
