// SPDX-License-Identifier: MIT
#include "kernels/adam/launch.h"

namespace headway::kernels::cuda {

Launches adam(const Limits& limits, NumberFormat format, const TableStep& by,
              std::span<const TableTensor> tensors) {
  return table_launches(limits, "adam", kernel_name("adam", format), by, tensors);
}

TableStep table_step(const AdamStep& by) {
  TableStep step;
  step.rate = by.rate;
  step.beta1 = by.beta1;
  step.beta2 = by.beta2;
  step.epsilon = by.epsilon;
  step.decay = by.decay;
  step.correction1 = by.correction1;
  step.correction2 = by.correction2;
  step.gradient_scale = by.gradient_scale;
  return step;
}

}  // namespace headway::kernels::cuda
