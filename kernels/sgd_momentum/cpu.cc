// SPDX-License-Identifier: MIT
#include "kernels/sgd_momentum/op.h"

#include <algorithm>

#include "kernels/loops/loops.h"
#include "kernels/parallel.h"

namespace headway::kernels {
void sgd_momentum(const SgdTensor& tensor, SgdParameters parameters) {
  sgd_momentum_multi_tensor({&tensor, 1}, parameters);
}

void sgd_momentum_multi_tensor(std::span<const SgdTensor> tensors, SgdParameters parameters) {
  std::int64_t total = 0;
  for (const SgdTensor& tensor : tensors) total += tensor.count;
  parallel_for(total, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    std::int64_t first = 0;  // global index of the tensor's first element
    for (const SgdTensor& tensor : tensors) {
      const std::int64_t from = std::max<std::int64_t>(begin - first, 0);
      const std::int64_t to = std::min(end - first, tensor.count);
      if (from < to)
        loops().sgd_update(to - from, tensor.parameter + from, tensor.velocity + from,
                           tensor.gradient + from, parameters);
      first += tensor.count;
    }
  });
}

void sgd_decay(std::int64_t count, const float* gradient, const float* parameter, float decay,
               float* direction) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    loops().sgd_decay(end - begin, gradient + begin, parameter + begin, decay, direction + begin);
  });
}

void sgd_scale(std::int64_t count, float factor, float* values) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    loops().sgd_scale(end - begin, factor, values + begin);
  });
}

void sgd_accumulate(std::int64_t count, const float* direction, float* velocity) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    loops().sgd_accumulate(end - begin, direction + begin, velocity + begin);
  });
}

void sgd_apply(std::int64_t count, const float* velocity, float rate, float* parameter) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    loops().sgd_apply(end - begin, velocity + begin, rate, parameter + begin);
  });
}

namespace reference {

void sgd_momentum(const SgdTensor& t, SgdParameters by) {
  for (std::int64_t i = 0; i < t.count; ++i) {
    const double d = t.gradient[i] + static_cast<double>(by.decay) * t.parameter[i];
    const double v = static_cast<double>(by.momentum) * t.velocity[i] + d;
    t.velocity[i] = static_cast<float>(v);
    t.parameter[i] = static_cast<float>(t.parameter[i] - by.rate * v);
  }
}

}  // namespace reference
}  // namespace headway::kernels
