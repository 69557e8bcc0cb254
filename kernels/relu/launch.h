// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"

namespace headway::kernels::cuda {

struct ReluParameters {
  std::int64_t count;
  const void* x;   ///< backward: y
  const void* dy;  ///< backward only
  void* out;
  bool packed;
};

/// y = max(x, 0) and dx = dy where y > 0 (kernels/relu/op.h); in place is allowed.
Launch relu_forward(const Limits& limits, NumberFormat format, std::int64_t count, const void* x,
                    void* y);
Launch relu_backward(const Limits& limits, NumberFormat format, std::int64_t count, const void* y,
                     const void* dy, void* dx);

}  // namespace headway::kernels::cuda
