// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/tensor_table.h"

namespace headway::kernels::cuda {

/// An optimizer as elementwise passes over memory instead of sgd_momentum or adam
/// (kernels/sgd_momentum/op.h, kernels/adam/op.h). `direction` keeps intermediate values between
/// passes. An overflow recorded in by.state skips every pass. Gradients are in `format`; the last
/// pass writes the copy.
enum class SgdPass { kDecay, kScale, kAccumulate, kApply };
Launches sgd_pass(const Limits& limits, NumberFormat format, SgdPass pass, const TableStep& by,
                  std::span<const TableTensor> tensors);
/// `pass` 0 to kAdamPasses - 1, in the order of kernels::adam_pass.
Launches adam_pass(const Limits& limits, NumberFormat format, int pass, const TableStep& by,
                   std::span<const TableTensor> tensors);

}  // namespace headway::kernels::cuda
