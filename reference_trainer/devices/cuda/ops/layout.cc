// SPDX-License-Identifier: MIT
#include "kernels/layout/launch.h"

#include "kernels/insert_zeros/launch.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"
#include "reference_trainer/ops/insert_zeros.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer::cuda_device {

void add_layout_change(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const bool to_first = node.op == &ops::kNhwcToNchw;
  const Shape first = graph.shape(to_first ? node.outputs[0] : node.inputs[0]);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand x = graph.input(id, node.inputs[0], format);
  const Operand y = graph.operand(node.outputs[0]);
  const auto change = to_first ? kernels::cuda::nhwc_to_nchw : kernels::cuda::nchw_to_nhwc;
  graph.add_launches(id, [=, &graph](int slot) -> Launches {
    return {change(graph.limits(), format, first[0], first[1], first[2] * first[3], x.at(slot),
                   y.at(), kernels::cuda::LayoutVariant::kTiled)};
  });
}

void add_insert_zeros(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const kernels::InsertZeros shape = ops::zeros_of(graph.graph(), node);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand from = graph.input(id, node.inputs[0], format);
  const Operand to = graph.operand(node.outputs[0]);
  graph.add_launches(id, [=, &graph](int) -> Launches {
    return {kernels::cuda::insert_zeros(graph.limits(), format, shape, from.at(), to.at())};
  });
}

}  // namespace headway::trainer::cuda_device
