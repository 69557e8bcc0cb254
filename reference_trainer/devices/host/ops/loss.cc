// SPDX-License-Identifier: MIT
#include "kernels/softmax_cross_entropy.h"
#include "reference_trainer/devices/host/ops/host_ops.h"

namespace headway::trainer::host {
namespace {

kernels::SoftmaxCrossEntropyShape shape_of(const HostGraph& graph, ValueId logits) {
  const Shape& shape = graph.graph().value(logits).shape;
  return {shape[0], static_cast<int>(shape[1])};
}

}  // namespace

void add_softmax_cross_entropy(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto shape = shape_of(graph, node.inputs[0]);
  graph.add_kernel(id, [&graph, &node, shape](const LaunchArguments& a) {
    kernels::softmax_cross_entropy_forward(
        shape, graph.address(node.inputs[0]), graph.address<std::int32_t>(node.inputs[1], a.slot),
        graph.address(node.outputs[1]), graph.address<kernels::LossFigures>(node.outputs[0]));
  });
}

void add_softmax_cross_entropy_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto shape = shape_of(graph, node.outputs[0]);
  graph.add_kernel(id, [&graph, &node, shape](const LaunchArguments& a) {
    kernels::softmax_cross_entropy_backward(shape, graph.address(node.inputs[0]),
                                            graph.address<std::int32_t>(node.inputs[1], a.slot),
                                            graph.address(node.outputs[0]));
  });
}

}  // namespace headway::trainer::host
