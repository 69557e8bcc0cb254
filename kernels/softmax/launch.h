// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/softmax/op.h"

namespace headway::kernels::cuda {

struct SoftmaxParameters {
  std::int64_t rows;
  std::int64_t columns;
  const void* first;   ///< x; backward: y
  const void* second;  ///< backward: dy
  void* out;
  bool packed;
};

/// Softmax and log-softmax of each row, and their gradients (kernels/softmax/op.h), on arrays of
/// one format; in place is allowed. A warp keeps a row of up to 1024 columns in registers, a block
/// one of up to 8192; longer rows are read again for each sum.
Launch softmax_forward(const Limits& limits, NumberFormat format, std::int64_t rows,
                       std::int64_t columns, const void* x, void* y);
Launch softmax_backward(const Limits& limits, NumberFormat format, std::int64_t rows,
                        std::int64_t columns, const void* y, const void* dy, void* dx);
Launch log_softmax_forward(const Limits& limits, NumberFormat format, std::int64_t rows,
                           std::int64_t columns, const void* x, void* y);
Launch log_softmax_backward(const Limits& limits, NumberFormat format, std::int64_t rows,
                            std::int64_t columns, const void* y, const void* dy, void* dx);

}  // namespace headway::kernels::cuda
