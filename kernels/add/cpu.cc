// SPDX-License-Identifier: MIT
#include "kernels/add/op.h"

#include "kernels/loops/loops.h"
#include "kernels/parallel.h"

namespace headway::kernels {
void add(std::int64_t count, const float* a, const float* b, float* c) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    loops().add(end - begin, a + begin, b + begin, c + begin);
  });
}

}  // namespace headway::kernels
