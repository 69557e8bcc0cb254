// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/tensor_table.h"
#include "kernels/sgd_momentum/op.h"

namespace headway::kernels::cuda {

/// The update of all tensors (kernels/sgd_momentum/op.h): `first` is the velocity; gradients are in
/// `format`. `by` has rate, momentum, decay, copy_format and state.
Launches sgd_momentum(const Limits& limits, NumberFormat format, const TableStep& by,
                      std::span<const TableTensor> tensors);

}  // namespace headway::kernels::cuda
