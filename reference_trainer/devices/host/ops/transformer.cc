// SPDX-License-Identifier: MIT
// Embedding, layer normalisation and bias-GELU by our own kernels.
#include "kernels/bias_activation/op.h"
#include "kernels/embedding/op.h"
#include "kernels/layer_norm/op.h"
#include "reference_trainer/devices/host/ops/host_ops.h"
#include "reference_trainer/ops/embedding.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer::host {

void add_embedding(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto shape =
      ops::embedding_shape(graph.graph(), node, node.inputs[0], node.inputs[1], node.outputs[0]);
  graph.add_kernel(id, [&graph, &node, shape](const LaunchArguments& a) {
    kernels::embedding_forward(shape, graph.address<std::int32_t>(node.inputs[0], a.slot),
                               graph.address(node.inputs[1]),
                               node.inputs.size() > 2 ? graph.address(node.inputs[2]) : nullptr,
                               graph.address(node.outputs[0]));
  });
}

void add_embedding_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto shape =
      ops::embedding_shape(graph.graph(), node, node.inputs[0], node.outputs[0], node.inputs[1]);
  graph.add_kernel(id, [&graph, &node, shape](const LaunchArguments& a) {
    kernels::embedding_backward(shape, graph.address<std::int32_t>(node.inputs[0], a.slot),
                                graph.address(node.inputs[1]), graph.address(node.outputs[0]),
                                node.outputs.size() > 1 ? graph.address(node.outputs[1]) : nullptr);
  });
}

void add_layer_norm(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const Shape& in = graph.graph().value(node.outputs[0]).shape;
  const kernels::LayerNormShape shape{in[0], in[1]};
  const float epsilon = std::get<LayerNormAttributes>(node.attributes).epsilon;
  graph.add_kernel(id, [&graph, &node, shape, epsilon](const LaunchArguments&) {
    const std::size_t first = node.op == &ops::kAddLayerNorm ? 2 : 1;
    kernels::LayerNormForward arguments;
    arguments.x = graph.address(node.inputs[0]);
    if (first == 2) {
      arguments.added = graph.address(node.inputs[1]);
      arguments.sum = graph.address(node.outputs[1]);
    }
    arguments.gamma = graph.address(node.inputs[first]);
    arguments.beta = graph.address(node.inputs[first + 1]);
    arguments.y = graph.address(node.outputs[0]);
    arguments.mean = graph.address(node.outputs[first]);
    arguments.rstd = graph.address(node.outputs[first + 1]);
    kernels::layer_norm_forward(shape, epsilon, arguments);
  });
}

void add_layer_norm_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const Shape& in = graph.graph().value(node.outputs[0]).shape;
  const kernels::LayerNormShape shape{in[0], in[1]};
  graph.add_kernel(id, [&graph, &node, shape](const LaunchArguments&) {
    auto in_address = [&](std::size_t i) { return graph.address(node.inputs[i]); };
    auto out_address = [&](std::size_t i) { return graph.address(node.outputs[i]); };
    kernels::layer_norm_backward(
        shape, {in_address(0), in_address(1), in_address(2), in_address(3), in_address(4),
                node.inputs.size() > 5 ? in_address(5) : nullptr, out_address(0), out_address(1),
                out_address(2)});
  });
}

void add_bias_gelu(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const Shape& in = graph.graph().value(node.inputs[0]).shape;
  graph.add_kernel(id, [&graph, &node, &in](const LaunchArguments&) {
    kernels::bias_gelu_forward(in[0], in[1], graph.address(node.inputs[0]),
                               graph.address(node.inputs[1]), graph.address(node.outputs[0]));
  });
}

void add_bias_gelu_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const Shape& in = graph.graph().value(node.inputs[0]).shape;
  graph.add_kernel(id, [&graph, &node, &in](const LaunchArguments&) {
    kernels::bias_gelu_backward(in[0], in[1], graph.address(node.inputs[0]),
                                graph.address(node.inputs[1]), graph.address(node.inputs[2]),
                                graph.address(node.outputs[0]), graph.address(node.outputs[1]));
  });
}

}  // namespace headway::trainer::host
