// SPDX-License-Identifier: MIT
#include "kernels/sequence/op.h"

#include <algorithm>
#include <cstring>

#include "kernels/parallel.h"

namespace headway::kernels {

void swap_major(std::int64_t outer, std::int64_t inner, std::int64_t columns, const float* from,
                float* to) {
  const std::int64_t grain = std::max<std::int64_t>(1, kFlatGrain / columns);
  parallel_for(outer * inner, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t source = row % outer * inner + row / outer;
      std::memcpy(to + row * columns, from + source * columns,
                  static_cast<std::size_t>(columns) * sizeof(float));
    }
  });
}

void padding_mask(std::int64_t batch, std::int64_t rows, std::int64_t length,
                  const std::int32_t* tokens, const float* scores, float* masked) {
  const std::int64_t grain = std::max<std::int64_t>(1, kFlatGrain / length);
  parallel_for(batch * rows, grain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row)
      for (std::int64_t s = 0; s < length; ++s) {
        const float score = scores[row * length + s];
        masked[row * length + s] = tokens[s * batch + row / rows] < 0 ? -1e30F : score;
      }
  });
}

}  // namespace headway::kernels
