// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/tensor_table.h"

namespace headway::kernels::cuda {

/// What an optimizer made of elementwise operations does instead of sgd_momentum or adam, one pass over memory each
/// (kernels/sgd_momentum/op.h, kernels/adam/op.h); `direction` keeps what lies between passes. An overflow noted in by.state
/// skips every pass. Gradients in `format`; the last pass writes the copy.
enum class SgdPass { kDecay, kScale, kAccumulate, kApply };
Launches sgd_pass(const Limits& limits, NumberFormat format, SgdPass pass, const TableStep& by,
                  std::span<const TableTensor> tensors);
/// `pass` 0 to kAdamPasses - 1, in the order of kernels::adam_pass.
Launches adam_pass(const Limits& limits, NumberFormat format, int pass, const TableStep& by,
                   std::span<const TableTensor> tensors);

}  // namespace headway::kernels::cuda
