// SPDX-License-Identifier: MIT
#include "kernels/loss_scaler/launch.h"

#include "kernels/cuda/tensor_table.cuh"

namespace headway::kernels::cuda {

// Indices of the floats in OptimizerState.
constexpr int kExponent = 0;
constexpr int kOverflow = 1;
constexpr int kGood = 2;
constexpr int kTaken = 3;

template <class T>
__device__ void unscale_body(const TableStep& by, const TableTensor* tensors) {
  const float factor = exp2f(-16 - by.state[kExponent]);
  bool overflow = false;
  for_each_chunk(by, tensors,
                 [&](const TableTensor& t, std::int64_t, std::int64_t first, std::int64_t end) {
                   T* values = static_cast<T*>(t.gradient);
                   for_each_eight(first, end, address_bits(values),
                                  [&](std::int64_t i, std::int64_t valid, bool packed) {
                                    float g[kPack];
                                    load8(values + i, packed, valid, g);
#pragma unroll
                                    for (int k = 0; k < kPack; ++k) {
                                      overflow |= !(fabsf(g[k]) <= 3.402823466e38F);
                                      g[k] *= factor;
                                    }
                                    store8(values + i, packed, valid, g);
                                  });
                 });
  // All threads that write here write the same value.
  if (overflow) by.state[kOverflow] = 1;
}

HEADWAY_TABLE_KERNEL_PER_FORMAT(unscale, unscale_body)

HEADWAY_KERNEL(end_step, 1, EndStepParameters) {
  constexpr float kGrowthInterval = 2000;
  constexpr float kLargest = 8;
  constexpr float kSmallest = -16;
  float* s = a.state;
  const bool overflow = s[kOverflow] != 0;
  if (!overflow) s[kTaken] += 1;
  if (!a.scaled) return;
  if (overflow) {
    s[kExponent] = fmaxf(kSmallest, s[kExponent] - 1);
    s[kGood] = 0;
  } else if (++s[kGood] >= kGrowthInterval) {
    s[kExponent] = fminf(kLargest, s[kExponent] + 1);
    s[kGood] = 0;
  }
  s[kOverflow] = 0;
}

}  // namespace headway::kernels::cuda
