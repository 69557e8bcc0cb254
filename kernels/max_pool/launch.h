// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/max_pool/op.h"

namespace headway::kernels::cuda {

struct MaxPoolParameters {
  MaxPoolShape shape;
  std::int64_t out_height;
  std::int64_t out_width;
  const void* from;     ///< forward: x; backward: dy
  void* to;             ///< y or dx
  std::uint8_t* place;  ///< of each maximum in its window (op.h)
  bool packed;          ///< arrays are aligned so that a thread can load eight channels at once
};

/// The ops of kernels/max_pool/op.h on a GPU, for channels-last arrays of one number format. The
/// backward kernel gathers: each element of dx is computed by one thread from the windows that contain
/// it. So it needs no atomic additions, and dx need not be zeroed.
Launch max_pool_forward(const Limits& limits, NumberFormat format, const MaxPoolShape& shape,
                        const void* x, void* y, std::uint8_t* place);
Launch max_pool_backward(const Limits& limits, NumberFormat format, const MaxPoolShape& shape,
                         const void* dy, const std::uint8_t* place, void* dx);

}  // namespace headway::kernels::cuda
