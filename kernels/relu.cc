// SPDX-License-Identifier: MIT
#include "kernels/relu.h"

#include "kernels/clones.h"
#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

HEADWAY_CLONES void forward_piece(std::int64_t count, const float* __restrict x,
                                  float* __restrict y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

HEADWAY_CLONES void backward_piece(std::int64_t count, const float* __restrict y,
                                   const float* __restrict dy, float* __restrict dx) {
  for (std::int64_t i = 0; i < count; ++i) dx[i] = y[i] > 0 ? dy[i] : 0;
}

}  // namespace

void relu_forward(std::int64_t count, const float* x, float* y) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    forward_piece(end - begin, x + begin, y + begin);
  });
}

void relu_backward(std::int64_t count, const float* y, const float* dy, float* dx) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    backward_piece(end - begin, y + begin, dy + begin, dx + begin);
  });
}

}  // namespace headway::kernels
