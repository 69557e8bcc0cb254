// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/stream_op/op.h"

namespace headway::kernels::cuda {

/// The launches that compute the same as kernels::run on a processor. They copy the addresses and,
/// in their tables, the content of the op's spans; only the arrays must outlive this call. Throws
/// Error (internal) for shapes and addresses that no kernel supports; an empty op has no launch.
Launches launches(const Limits& limits, const StreamOp& op);

}  // namespace headway::kernels::cuda
