// SPDX-License-Identifier: MIT
// batch_norm, bn_relu, bn_add_relu and their gradients by our own kernels (kernels/batch_norm/op.h).
#include "kernels/batch_norm/op.h"

#include "reference_trainer/devices/host/ops/host_ops.h"
#include "reference_trainer/ops/batch_norm.h"

namespace headway::trainer::host {

using kernels::Epilogue;

namespace {

kernels::BatchNormForward forward_operands(const HostGraph& graph, const Node& node,
                                           const BatchNormAttributes& attributes) {
  const bool residual = attributes.epilogue == Epilogue::kAddRelu;
  kernels::BatchNormForward operands;
  operands.x = graph.address(node.inputs[0]);
  operands.gamma = graph.address(node.inputs[1]);
  operands.beta = graph.address(node.inputs[2]);
  operands.running_mean = graph.address(node.inputs[3]);
  operands.running_variance = graph.address(node.inputs[4]);
  if (residual) operands.residual = graph.address(node.inputs[5]);
  operands.y = graph.address(node.outputs[0]);
  if (!attributes.training) return operands;
  operands.saved_mean = graph.address(node.outputs[1]);
  operands.saved_rstd = graph.address(node.outputs[2]);
  if (residual) operands.mask = graph.address<std::uint8_t>(node.outputs[3]);
  return operands;
}

kernels::BatchNormBackward backward_operands(const HostGraph& graph, const Node& node,
                                             Epilogue epilogue) {
  kernels::BatchNormBackward operands;
  operands.x = graph.address(node.inputs[0]);
  operands.dy = graph.address(node.inputs[1]);
  operands.gamma = graph.address(node.inputs[2]);
  operands.beta = graph.address(node.inputs[3]);
  operands.saved_mean = graph.address(node.inputs[4]);
  operands.saved_rstd = graph.address(node.inputs[5]);
  operands.dx = graph.address(node.outputs[0]);
  operands.dgamma = graph.address(node.outputs[1]);
  operands.dbeta = graph.address(node.outputs[2]);
  if (epilogue != Epilogue::kAddRelu) return operands;
  operands.mask = graph.address<std::uint8_t>(node.inputs[6]);
  operands.dresidual = graph.address(node.outputs[3]);
  return operands;
}

}  // namespace

void add_batch_norm(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto attributes = std::get<BatchNormAttributes>(node.attributes);
  const auto shape = ops::batch_norm_shape(graph.graph(), node.inputs[0]);
  graph.add_kernel(id, [&graph, &node, attributes, shape](const LaunchArguments&) {
    const auto operands = forward_operands(graph, node, attributes);
    if (attributes.training) {
      kernels::batch_norm_forward(shape, attributes.epilogue, attributes.epsilon,
                                  attributes.momentum, operands);
    } else {
      kernels::batch_norm_inference(shape, attributes.epilogue, attributes.epsilon, operands);
    }
  });
}

void add_batch_norm_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const Epilogue epilogue = std::get<BatchNormAttributes>(node.attributes).epilogue;
  const auto shape = ops::batch_norm_shape(graph.graph(), node.inputs[0]);
  graph.add_kernel(id, [&graph, &node, epilogue, shape](const LaunchArguments&) {
    kernels::batch_norm_backward(shape, epilogue, backward_operands(graph, node, epilogue));
  });
}

}  // namespace headway::trainer::host
