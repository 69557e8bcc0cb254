// SPDX-License-Identifier: MIT
#include "kernels/embedding/op.h"

#include <algorithm>

#include "common/error.h"
#include "kernels/loops/loops.h"
#include "kernels/parallel.h"

namespace headway::kernels {

void embedding_forward(EmbeddingShape s, const std::int32_t* tokens, const float* table,
                       const float* positions, float* y) {
  const std::int64_t n = s.columns;
  const std::int64_t grain = std::max<std::int64_t>(1, kFlatGrain / n);
  parallel_for(s.tokens, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      HEADWAY_INVARIANT(tokens[i] < s.entries);
      float* row = y + i * n;
      if (tokens[i] < 0) {
        std::fill_n(row, n, 0.0F);
      } else if (positions) {
        loops().add(n, table + tokens[i] * n, positions + i % s.length * n, row);
      } else {
        std::copy_n(table + tokens[i] * n, n, row);
      }
    }
  });
}

/// Threads share the columns, so that the positions of a token are added in order.
void embedding_backward(EmbeddingShape s, const std::int32_t* tokens, const float* dy,
                        float* dtable, float* dpositions) {
  constexpr std::int64_t kColumns = 16;
  const std::int64_t n = s.columns;
  const std::int64_t blocks = (n + kColumns - 1) / kColumns;
  const std::int64_t grain =
      std::max<std::int64_t>(1, kFlatGrain / std::max<std::int64_t>(1, s.tokens * kColumns));
  parallel_for(blocks, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * kColumns;
    const std::int64_t width = std::min(n, end * kColumns) - first;
    for (std::int64_t t = 0; t < s.entries; ++t) std::fill_n(dtable + t * n + first, width, 0.0F);
    for (std::int64_t p = 0; dpositions && p < s.length; ++p)
      std::fill_n(dpositions + p * n + first, width, 0.0F);
    for (std::int64_t i = 0; i < s.tokens; ++i) {
      if (tokens[i] < 0) continue;
      const float* from = dy + i * n + first;
      loops().sgd_accumulate(width, from, dtable + tokens[i] * n + first);
      if (dpositions) loops().sgd_accumulate(width, from, dpositions + i % s.length * n + first);
    }
  });
}

}  // namespace headway::kernels
