// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/attention/op.h"
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

enum class AttentionVariant {
  /// Every format, heads of up to 128, any address. Eight queries (or keys) share tiles of 32 of
  /// the other kind in shared memory; scores stay in registers. Uses the general units.
  kGeneral,
  /// FP16 and BF16 (the formats that the tensor cores multiply without rounding the stored values),
  /// heads of 16, 32, 64 or 128 (whole fragments), arrays at multiples of 16 bytes (rows are copied
  /// 16 bytes at a time). 128 queries, or up to 128 keys, share tiles of the other kind
  /// (launch_tiles.h); scores stay in registers. Probabilities and gradients of scores are
  /// rounded to the format before they are multiplied; sums are FP32.
  kTensorCores,
  kBest,  ///< kTensorCores where possible, else kGeneral
};

/// Attention as one op (kernels/attention/op.h). Fails on heads deeper than 128, on sequences of
/// 2^30 or more, and where the variant does not support the arguments. Both variants save the same
/// statistics in lse, so that either backward may follow either forward.
Launch attention_forward(const Limits& limits, NumberFormat format, const AttentionShape& shape,
                         const void* qkv, void* y, float* lse,
                         AttentionVariant variant = AttentionVariant::kBest);
/// Scores are computed again, once for dq and once for dk and dv. There are no atomics: every run
/// gives the same bits. `shares`: groups·window floats of scratch memory.
Launches attention_backward(const Limits& limits, NumberFormat format, const AttentionShape& shape,
                            const void* qkv, const void* y, const float* lse, const void* dy,
                            void* dqkv, float* shares,
                            AttentionVariant variant = AttentionVariant::kBest);

}  // namespace headway::kernels::cuda
