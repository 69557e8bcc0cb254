// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

struct CastParameters {
  std::int64_t count;
  const void* from;
  void* to;
  bool packed;
};

/// Converts FP32 to or from FP16 or BF16; rounds to nearest, ties to even.
Launch cast(const Limits& limits, NumberFormat from_format, NumberFormat to_format,
            std::int64_t count, const void* from, void* to);
/// Rounds FP32 values to `format` but keeps them as FP32 (kernels/number_format.h); in place is
/// allowed.
Launch round_to(const Limits& limits, NumberFormat format, std::int64_t count, const float* from,
                float* to);

}  // namespace headway::kernels::cuda
