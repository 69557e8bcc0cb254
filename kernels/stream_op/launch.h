// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/cuda/launch.h"
#include "kernels/stream_op/op.h"

namespace headway::kernels::cuda {

/// The launches that do what kernels::run does on a processor. They hold the addresses and, in their tables, what the op's
/// spans say: neither needs to outlive this call but the arrays. Shapes and addresses that no kernel takes are refused
/// (Error, internal); an op over nothing takes no launch.
Launches launches(const Limits& limits, const StreamOp& op);

}  // namespace headway::kernels::cuda
