// SPDX-License-Identifier: MIT
#include "kernels/loops/lanes.h"
#include "kernels/loops/loops.h"

// Compiled once per instruction set (see lanes.h); the compiler vectorises these by itself.
namespace headway::kernels::HEADWAY_ISA {

void relu_forward(std::int64_t count, const float* __restrict x, float* __restrict y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

void relu_backward(std::int64_t count, const float* __restrict y, const float* __restrict dy,
                   float* __restrict dx) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float gradient = dy[i];  // always read, so that the selection needs no branch
    dx[i] = y[i] > 0 ? gradient : 0;
  }
}

void add(std::int64_t count, const float* __restrict a, const float* __restrict b,
         float* __restrict c) {
  for (std::int64_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
}

void sgd_update(std::int64_t count, float* __restrict p, float* __restrict v,
                const float* __restrict g, SgdParameters by) {
  for (std::int64_t i = 0; i < count; ++i) {
    v[i] = by.momentum * v[i] + (g[i] + by.decay * p[i]);
    p[i] -= by.rate * v[i];
  }
}

void sgd_decay(std::int64_t count, const float* __restrict g, const float* __restrict p,
               float decay, float* __restrict d) {
  for (std::int64_t i = 0; i < count; ++i) d[i] = g[i] + decay * p[i];
}

void sgd_scale(std::int64_t count, float factor, float* v) {
  for (std::int64_t i = 0; i < count; ++i) v[i] *= factor;
}

void sgd_accumulate(std::int64_t count, const float* __restrict d, float* __restrict v) {
  for (std::int64_t i = 0; i < count; ++i) v[i] += d[i];
}

void sgd_apply(std::int64_t count, const float* __restrict v, float rate, float* __restrict p) {
  for (std::int64_t i = 0; i < count; ++i) p[i] -= rate * v[i];
}

}  // namespace headway::kernels::HEADWAY_ISA
