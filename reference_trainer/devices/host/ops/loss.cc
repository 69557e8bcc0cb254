// SPDX-License-Identifier: MIT
#include "kernels/loss_scaler/op.h"
#include "kernels/softmax/op.h"
#include "kernels/softmax_cross_entropy/op.h"
#include "reference_trainer/devices/host/ops/host_ops.h"

namespace headway::trainer::host {
namespace {

kernels::SoftmaxCrossEntropyShape shape_of(const HostGraph& graph, ValueId logits) {
  const Shape& shape = graph.graph().value(logits).shape;
  return {shape[0], static_cast<int>(shape[1])};
}

}  // namespace

float loss_scale(const HostGraph& graph, const Node& node, std::size_t operand) {
  if (node.inputs.size() <= operand) return 1;
  return graph.address<kernels::OptimizerState>(node.inputs[operand])->loss_scale();
}

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
    kernels::softmax_cross_entropy_backward(
        shape, graph.address(node.inputs[0]), graph.address<std::int32_t>(node.inputs[1], a.slot),
        graph.address(node.outputs[0]), loss_scale(graph, node, 2));
  });
}

void add_log_softmax(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto shape = shape_of(graph, node.inputs[0]);
  graph.add_kernel(id, [&graph, &node, shape](const LaunchArguments&) {
    kernels::log_softmax_forward(shape.rows, shape.classes, graph.address(node.inputs[0]),
                                 graph.address(node.outputs[0]));
  });
}

void add_log_softmax_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto shape = shape_of(graph, node.inputs[0]);
  graph.add_kernel(id, [&graph, &node, shape](const LaunchArguments&) {
    kernels::log_softmax_backward(shape.rows, shape.classes, graph.address(node.inputs[0]),
                                  graph.address(node.inputs[1]), graph.address(node.outputs[0]));
  });
}

void add_nll_loss(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto shape = shape_of(graph, node.inputs[0]);
  graph.add_kernel(id, [&graph, &node, shape](const LaunchArguments& a) {
    kernels::nll_loss_forward(shape, graph.address(node.inputs[0]),
                              graph.address<std::int32_t>(node.inputs[1], a.slot),
                              graph.address<kernels::LossFigures>(node.outputs[0]));
  });
}

void add_nll_loss_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto shape = shape_of(graph, node.outputs[0]);
  graph.add_kernel(id, [&graph, &node, shape](const LaunchArguments& a) {
    kernels::nll_loss_backward(shape, graph.address<std::int32_t>(node.inputs[0], a.slot),
                               graph.address(node.outputs[0]), loss_scale(graph, node, 1));
  });
}

}  // namespace headway::trainer::host
