// SPDX-License-Identifier: MIT
#include "kernels/relu/op.h"

#include "kernels/loops/loops.h"
#include "kernels/parallel.h"

namespace headway::kernels {
void relu_forward(std::int64_t count, const float* x, float* y) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    loops().relu_forward(end - begin, x + begin, y + begin);
  });
}

void relu_backward(std::int64_t count, const float* y, const float* dy, float* dx) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    loops().relu_backward(end - begin, y + begin, dy + begin, dx + begin);
  });
}

}  // namespace headway::kernels
