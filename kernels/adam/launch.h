// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/adam/op.h"
#include "kernels/cuda/tensor_table.h"

namespace headway::kernels::cuda {

/// AdamW over all tensors (kernels/adam/op.h): `first` is the mean, `second` the variance;
/// gradients in `format`. With a state, the device computes the corrections for the step number
/// `taken` + 1.
Launches adam(const Limits& limits, NumberFormat format, const TableStep& by,
              std::span<const TableTensor> tensors);

/// The same step as a TableStep.
TableStep table_step(const AdamStep& by);

}  // namespace headway::kernels::cuda
