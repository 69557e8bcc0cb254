// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/attention.h"
#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

/// AttentionShape as plain numbers, and the arrays of one format (lse and shares are FP32).
struct AttentionParameters {
  std::int64_t batch, length, heads, depth, window, shift;
  const void* qkv;
  const void* y;   ///< forward writes it, backward reads it
  const void* dy;  ///< backward
  void* dqkv;
  float* lse;
  float* shares;  ///< backward: scratch, groups·window
};

/// Attention in one op (kernels/attention.h), for heads of up to 128. Eight queries share tiles of 32 keys and values in
/// shared memory; scores never leave the registers. On the general units: no tensor cores.
Launch attention_forward(const Limits& limits, NumberFormat format, const AttentionShape& shape,
                         const void* qkv, void* y, float* lse);
/// Scores are computed again, once for dq and once for dk and dv: no atomics, the same bits in every run. `shares`:
/// groups·window floats of scratch memory.
Launches attention_backward(const Limits& limits, NumberFormat format, const AttentionShape& shape,
                            const void* qkv, const void* y, const float* lse, const void* dy,
                            void* dqkv, float* shares);

}  // namespace headway::kernels::cuda
