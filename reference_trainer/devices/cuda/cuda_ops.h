// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/devices/cuda/compile.h"
#include "reference_trainer/devices/cuda/cuda_device.h"
#include "reference_trainer/ops/op_list.h"

// An op looks like this (devices/cuda/ops/rows.cc):
//
//   void add_softmax(CudaGraph& graph, NodeId id) {
//     const Node& node = graph.node(id);
//     const NumberFormat format = graph.format(node.outputs[0]);
//     const Operand x = graph.input(id, node.inputs[0], format);
//     const Operand y = graph.operand(node.outputs[0]);
//     graph.add_launches(id, [=, &graph](int slot) -> Launches {
//       return {softmax_forward(graph.limits(), format, rows, columns, x.at(slot), y.at())};
//     });
//   }
//
// An op must be named in ops/op_list.h. An op that calls a library sizes its workspace with
// graph.scratch(id, bytes) while it is added, makes its descriptors in graph.when_bound, and
// launches in graph.add_kernel.
namespace headway::trainer::cuda_device {

// Each function adds the kernels of one node of its op type (ops/op.h describes the operands).
#define HEADWAY_OP(op, host_form, cuda_form) void cuda_form(CudaGraph& graph, NodeId node);
HEADWAY_OPS(HEADWAY_OP)
#undef HEADWAY_OP

/// Adds the sums of x's columns as one kernel of a node.
void add_column_sum(CudaGraph& graph, NodeId node, ValueId x, ValueId sums);

}  // namespace headway::trainer::cuda_device
