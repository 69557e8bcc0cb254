// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/insert_zeros/op.h"

namespace headway::kernels::cuda {

struct InsertZerosParameters {
  InsertZeros shape;
  const void* from;
  void* to;
  bool packed;  ///< eight values of a position at once
};

/// See kernels/insert_zeros/op.h. Nothing is rounded.
Launch insert_zeros(const Limits& limits, NumberFormat format, const InsertZeros& shape,
                    const void* from, void* to);

}  // namespace headway::kernels::cuda
