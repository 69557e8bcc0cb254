// SPDX-License-Identifier: MIT
#include "kernels/add/op.h"
#include "kernels/relu/op.h"
#include "reference_trainer/devices/host/ops/host_ops.h"

namespace headway::trainer::host {
namespace {

using BinaryKernel = void (*)(std::int64_t, const float*, const float*, float*);

void add_binary(HostGraph& graph, NodeId id, BinaryKernel kernel) {
  const Node& node = graph.graph().node(id);
  const std::int64_t count = graph.graph().value(node.outputs[0]).shape.elements();
  graph.add_kernel(id, [&graph, &node, count, kernel](const LaunchArguments&) {
    kernel(count, graph.address(node.inputs[0]), graph.address(node.inputs[1]),
           graph.address(node.outputs[0]));
  });
}

}  // namespace

void add_relu(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const std::int64_t count = graph.graph().value(node.outputs[0]).shape.elements();
  graph.add_kernel(id, [&graph, &node, count](const LaunchArguments&) {
    kernels::relu_forward(count, graph.address(node.inputs[0]), graph.address(node.outputs[0]));
  });
}

void add_relu_backward(HostGraph& graph, NodeId id) {
  add_binary(graph, id, kernels::relu_backward);
}

void add_add(HostGraph& graph, NodeId id) {
  add_binary(graph, id, kernels::add);
}

}  // namespace headway::trainer::host
