// SPDX-License-Identifier: MIT
#include "kernels/loops/loops.h"
#include "kernels/loops/vector_math.h"

// Compiled once per instruction set (see lanes.h); the compiler vectorises these by itself.
namespace headway::kernels::HEADWAY_ISA {

/// Updates Adam's m and v, and applies its step to p (with decay).
void adam_update(std::int64_t count, float* __restrict p, float* __restrict m, float* __restrict v,
                 const float* __restrict g, const AdamStep& step) {
  const AdamStep by = step;  // so that no store can change it
  const float beta1 = by.beta1;
  const float beta2 = by.beta2;
  const float rate = by.rate;
  const float shrink = 1.0F - rate * by.decay;
  for (std::int64_t i = 0; i < count; ++i) {
    const float d = g[i] * by.gradient_scale;
    m[i] = beta1 * m[i] + (1.0F - beta1) * d;
    v[i] = beta2 * v[i] + (1.0F - beta2) * d * d;
    const float size = __builtin_sqrtf(v[i] * by.correction2) + by.epsilon;
    p[i] = p[i] * shrink - rate * (m[i] * by.correction1) / size;
  }
}

/// As adam_update, but writes the direction m^/(sqrt(v^)+eps) + decay·p instead of applying it.
void adam_direction(std::int64_t count, const float* __restrict p, float* __restrict m,
                    float* __restrict v, const float* __restrict g, const AdamStep& step,
                    float* __restrict direction) {
  const AdamStep by = step;
  const float beta1 = by.beta1;
  const float beta2 = by.beta2;
  for (std::int64_t i = 0; i < count; ++i) {
    const float d = g[i] * by.gradient_scale;
    m[i] = beta1 * m[i] + (1.0F - beta1) * d;
    v[i] = beta2 * v[i] + (1.0F - beta2) * d * d;
    const float size = __builtin_sqrtf(v[i] * by.correction2) + by.epsilon;
    direction[i] = (m[i] * by.correction1) / size + by.decay * p[i];
  }
}

/// size = sqrt(v^) + eps, and p = p - rate · m^ / size: the last two passes of an unfused Adam.
void adam_size(std::int64_t count, const float* __restrict v, const AdamStep& by,
               float* __restrict size) {
  const AdamStep step = by;
  for (std::int64_t i = 0; i < count; ++i)
    size[i] = __builtin_sqrtf(v[i] * step.correction2) + step.epsilon;
}

void adam_apply(std::int64_t count, const float* __restrict m, const float* __restrict size,
                const AdamStep& by, float* __restrict p) {
  const float factor = by.rate * by.correction1;
  for (std::int64_t i = 0; i < count; ++i) p[i] -= factor * m[i] / size[i];
}

}  // namespace headway::kernels::HEADWAY_ISA
