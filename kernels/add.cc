// SPDX-License-Identifier: MIT
#include "kernels/add.h"

#include "kernels/clones.h"
#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

HEADWAY_CLONES void add_piece(std::int64_t count, const float* __restrict a,
                              const float* __restrict b, float* __restrict c) {
  for (std::int64_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
}

}  // namespace

void add(std::int64_t count, const float* a, const float* b, float* c) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    add_piece(end - begin, a + begin, b + begin, c + begin);
  });
}

}  // namespace headway::kernels
