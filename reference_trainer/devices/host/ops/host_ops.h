// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/devices/host/compile.h"
#include "reference_trainer/ops/op_list.h"

namespace headway::trainer::host {

// Each function adds the kernels of one node of its op type (ops/op.h describes the operands).
#define HEADWAY_OP(op, host_form, cuda_form) void host_form(HostGraph& graph, NodeId node);
HEADWAY_OPS(HEADWAY_OP)
#undef HEADWAY_OP

/// The factor of the loss's gradient; where there is loss scaling, the scaler's state is an operand
/// (kernels/loss_scaler/op.h).
float loss_scale(const HostGraph& graph, const Node& node, std::size_t operand);

}  // namespace headway::trainer::host
