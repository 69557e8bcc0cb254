// SPDX-License-Identifier: MIT
#include "kernels/loss_scaler/launch.h"

namespace headway::kernels::cuda {

static_assert(sizeof(OptimizerState) == 4 * sizeof(float));  // the kernels index its floats

Launches unscale(const Limits& limits, NumberFormat format, const TableStep& by,
                 std::span<const TableTensor> tensors) {
  require_aligned(by.state, 4, "unscale", "the optimizer's state");
  return table_launches(limits, "loss_scaler", kernel_name("unscale", format), by, tensors);
}

Launch end_step(float* state, bool scaled) {
  require_aligned(state, 4, "end_step", "the optimizer's state");
  return make_launch("loss_scaler", "end_step", {}, 1, EndStepParameters{state, scaled});
}

}  // namespace headway::kernels::cuda
