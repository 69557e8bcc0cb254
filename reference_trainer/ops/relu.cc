// SPDX-License-Identifier: MIT
#include "kernels/relu/op.h"

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work forward_work(const Graph& graph, const Node& node) {
  return kernels::relu_forward_work(elements(graph, node.inputs[0]));
}
Work backward_work(const Graph& graph, const Node& node) {
  return kernels::relu_backward_work(elements(graph, node.inputs[0]));
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId y = node.outputs[0];
  gradients.accumulate(
      id, node.inputs[0],
      gradients.emit(kReluBackward, id, {y, gradients.of(y)}, {node.inputs[0]})[0]);
}

}  // namespace

const OpDefinition kRelu{"relu", "x -> max(x, 0)", forward_work, differentiate};
const OpDefinition kReluBackward{"relu_backward", "y, dy -> dx", backward_work};

ValueId relu(Graph& graph, const std::string& name, ValueId x) {
  return add_forward(graph, kRelu, name, {x}, graph.value(x).shape);
}

}  // namespace headway::trainer::ops
