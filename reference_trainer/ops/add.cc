// SPDX-License-Identifier: MIT
#include "kernels/add/op.h"

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work work(const Graph& graph, const Node& node) {
  return kernels::add_work(elements(graph, node.inputs[0]));
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId dy = gradients.of(node.outputs[0]);
  for (ValueId input : node.inputs)
    if (gradients.needs_gradient(input)) gradients.accumulate(id, input, dy);
}

}  // namespace

const OpDefinition kAdd{"add", "a, b -> a + b", work, differentiate};

ValueId add(Graph& graph, const std::string& name, ValueId a, ValueId b) {
  require(graph.value(a).shape == graph.value(b).shape, kAdd, name,
          "operands of one shape, " + graph.value(a).shape.text(), graph.value(b).shape);
  return add_forward(graph, kAdd, name, {a, b}, graph.value(a).shape);
}

}  // namespace headway::trainer::ops
