// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/adam/op.h"
#include "kernels/cuda/tensor_table.h"

namespace headway::kernels::cuda {

/// AdamW over all tensors (kernels/adam/op.h): `first` is the mean, `second` the variance; gradients in `format`. With
/// a state the corrections are those of the step after the `taken` ones, computed on the device.
Launches adam(const Limits& limits, NumberFormat format, const TableStep& by,
              std::span<const TableTensor> tensors);

/// The step as a table has it.
TableStep table_step(const AdamStep& by);

}  // namespace headway::kernels::cuda
