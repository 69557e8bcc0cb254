// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/devices/host/compile.h"
#include "reference_trainer/ops/op_list.h"

namespace headway::trainer::host {

// Each adds the kernels of one node of its op type (ops/op.h says what the operands are).
#define HEADWAY_OP(op, host_form, cuda_form) void host_form(HostGraph& graph, NodeId node);
HEADWAY_OPS(HEADWAY_OP)
#undef HEADWAY_OP

/// What the gradient of the loss is multiplied by: the scaler's state is an operand where there is
/// one (kernels/loss_scaler/op.h).
float loss_scale(const HostGraph& graph, const Node& node, std::size_t operand);

}  // namespace headway::trainer::host
