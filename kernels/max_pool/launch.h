// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/max_pool/op.h"

namespace headway::kernels::cuda {

struct MaxPoolParameters {
  MaxPoolShape shape;
  std::int64_t out_height;
  std::int64_t out_width;
  const void* from;  ///< forward: x; backward: dy
  void* to;          ///< y or dx
  std::uint8_t* place;
  bool packed;
};

/// kernels/max_pool/op.h on channels-last arrays of one format. Backward gathers: every element of
/// dx reads the windows that contain it, so that nothing is added twice and no array has to be
/// zeroed.
Launch max_pool_forward(const Limits& limits, NumberFormat format, const MaxPoolShape& shape,
                        const void* x, void* y, std::uint8_t* place);
Launch max_pool_backward(const Limits& limits, NumberFormat format, const MaxPoolShape& shape,
                         const void* dy, const std::uint8_t* place, void* dx);

}  // namespace headway::kernels::cuda
