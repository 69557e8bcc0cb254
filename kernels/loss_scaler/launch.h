// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/tensor_table.h"
#include "kernels/loss_scaler/op.h"

namespace headway::kernels::cuda {

/// Divides gradients (in `format`) by the loss scale of by.state, in place, and records an infinite
/// or NaN gradient there (kernels/loss_scaler/op.h). Unlike on the processor, a finite value never
/// counts as overflow.
Launches unscale(const Limits& limits, NumberFormat format, const TableStep& by,
                 std::span<const TableTensor> tensors);

struct EndStepParameters {
  float* state;
  bool scaled;
};
/// Ends a step: sets the next loss scale and the number of steps taken.
Launch end_step(float* state, bool scaled);

}  // namespace headway::kernels::cuda
