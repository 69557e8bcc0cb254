// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/tensor_table.h"
#include "kernels/loss_scaler/op.h"

namespace headway::kernels::cuda {

/// Gradients (in `format`) divided by the loss scale of by.state, in place; an infinite or NaN one is noted there
/// (kernels/loss_scaler/op.h). Unlike the processor's, a finite value never counts as overflow.
Launches unscale(const Limits& limits, NumberFormat format, const TableStep& by,
                 std::span<const TableTensor> tensors);

struct EndStepParameters {
  float* state;
  bool scaled;
};
/// The end of a step: the next loss scale and the count of steps taken.
Launch end_step(float* state, bool scaled);

}  // namespace headway::kernels::cuda
