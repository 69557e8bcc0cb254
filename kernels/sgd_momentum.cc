// SPDX-License-Identifier: MIT
#include "kernels/sgd_momentum.h"

#include <algorithm>

#include "kernels/clones.h"
#include "kernels/parallel.h"

namespace headway::kernels {
namespace {

HEADWAY_CLONES void update_piece(std::int64_t count, float* __restrict p, float* __restrict v,
                                 const float* __restrict g, SgdParameters by) {
  for (std::int64_t i = 0; i < count; ++i) {
    v[i] = by.momentum * v[i] + (g[i] + by.decay * p[i]);
    p[i] -= by.rate * v[i];
  }
}

HEADWAY_CLONES void decay_piece(std::int64_t count, const float* __restrict g,
                                const float* __restrict p, float decay, float* __restrict d) {
  for (std::int64_t i = 0; i < count; ++i) d[i] = g[i] + decay * p[i];
}

HEADWAY_CLONES void scale_piece(std::int64_t count, float factor, float* v) {
  for (std::int64_t i = 0; i < count; ++i) v[i] *= factor;
}

HEADWAY_CLONES void accumulate_piece(std::int64_t count, const float* __restrict d,
                                     float* __restrict v) {
  for (std::int64_t i = 0; i < count; ++i) v[i] += d[i];
}

HEADWAY_CLONES void apply_piece(std::int64_t count, const float* __restrict v, float rate,
                                float* __restrict p) {
  for (std::int64_t i = 0; i < count; ++i) p[i] -= rate * v[i];
}

}  // namespace

void sgd_momentum(const SgdTensor& tensor, SgdParameters parameters) {
  sgd_momentum_multi_tensor({&tensor, 1}, parameters);
}

void sgd_momentum_multi_tensor(std::span<const SgdTensor> tensors, SgdParameters parameters) {
  std::int64_t total = 0;
  for (const SgdTensor& tensor : tensors) total += tensor.count;
  parallel_for(total, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    std::int64_t first = 0;  // position of the tensor's first element among all elements
    for (const SgdTensor& tensor : tensors) {
      const std::int64_t from = std::max<std::int64_t>(begin - first, 0);
      const std::int64_t to = std::min(end - first, tensor.count);
      if (from < to)
        update_piece(to - from, tensor.parameter + from, tensor.velocity + from,
                     tensor.gradient + from, parameters);
      first += tensor.count;
    }
  });
}

void sgd_decay(std::int64_t count, const float* gradient, const float* parameter, float decay,
               float* direction) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    decay_piece(end - begin, gradient + begin, parameter + begin, decay, direction + begin);
  });
}

void sgd_scale(std::int64_t count, float factor, float* values) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    scale_piece(end - begin, factor, values + begin);
  });
}

void sgd_accumulate(std::int64_t count, const float* direction, float* velocity) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    accumulate_piece(end - begin, direction + begin, velocity + begin);
  });
}

void sgd_apply(std::int64_t count, const float* velocity, float rate, float* parameter) {
  parallel_for(count, kFlatGrain, max_threads(), [&](std::int64_t begin, std::int64_t end) {
    apply_piece(end - begin, velocity + begin, rate, parameter + begin);
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
