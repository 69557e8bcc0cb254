// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "kernels/work.h"

namespace headway::kernels {

/// y[n] = table[token[n]] + position[n mod length], rows of `columns` floats. `positions` may be
/// null. A negative token stands for padding: its row is 0 and no gradient comes from it. Tokens
/// must be below `entries`.
struct EmbeddingShape {
  std::int64_t tokens = 0;
  std::int64_t length = 1;  ///< tokens of a sequence
  std::int64_t columns = 0;
  std::int64_t entries = 0;  ///< rows of the table
};
void embedding_forward(EmbeddingShape shape, const std::int32_t* tokens, const float* table,
                       const float* positions, float* y);
/// dtable[t] = sum of dy over the positions of t; dpositions[p] likewise (may be null). The order
/// is fixed, so the result does not depend on threads.
void embedding_backward(EmbeddingShape shape, const std::int32_t* tokens, const float* dy,
                        float* dtable, float* dpositions);

constexpr Work embedding_forward_work(EmbeddingShape s, bool positions) {
  return {positions ? s.tokens * s.columns : 0, s.tokens * (4 + (positions ? 12 : 8) * s.columns)};
}
constexpr Work embedding_backward_work(EmbeddingShape s, bool positions) {
  return {(positions ? 2 : 1) * s.tokens * s.columns,
          s.tokens * (4 + (positions ? 20 : 12) * s.columns) + 4 * s.entries * s.columns};
}

}  // namespace headway::kernels
