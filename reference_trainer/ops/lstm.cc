// SPDX-License-Identifier: MIT
// A recurrent layer over all its time steps (mathematics in kernels/lstm/op.h): an ordinary product
// for the inputs of all steps, then the recurrence.
#include "kernels/lstm/op.h"

#include <cmath>

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work work(const Graph&, const Node& node) {
  const auto& by = std::get<LstmAttributes>(node.attributes);
  if (by.persistent) return kernels::lstm_work(by.shape);
  const Work step = kernels::lstm_product_work(by.shape) + kernels::lstm_cell_work(by.shape);
  return {by.shape.steps * step.flops, by.shape.steps * step.bytes};
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const auto [input, weights, tokens] = std::tuple{node.inputs[0], node.inputs[1], node.inputs[2]};
  const ValueId dgates = gradients.emit(
      kLstmBackward, id,
      {node.outputs[1], node.outputs[2], gradients.of(node.outputs[0]), weights, tokens},
      {input})[0];
  gradients.accumulate(id, input, dgates);
  gradients.accumulate(id, weights,
                       gradients.emit(kMatmulBackwardWeights, id, {dgates, node.outputs[3]},
                                      {weights}, NoAttributes{})[0]);
}

}  // namespace

const OpDefinition kLstm{"lstm", "gates of the inputs, weights, tokens -> h, gates, cell, h before",
                         work, differentiate};
const OpDefinition kLstmBackward{"lstm_backward", "gates, cell, dh, weights, tokens -> dgates",
                                 work};

ValueId lstm(Graph& graph, const std::string& name, ValueId x, ValueId tokens,
             const LstmAttributes& by) {
  const kernels::LstmShape& s = by.shape;
  require(graph.value(x).shape.rank() == 2 && graph.value(x).shape[0] == s.steps * s.rows, kLstm,
          name, "an input of [steps·rows, features]", graph.value(x).shape);
  const ValueId input = projection(graph, name + ".input", x, s.gate_columns());
  const float deviation = 1 / std::sqrt(static_cast<float>(s.hidden));
  const ValueId weights = add_parameter(graph, name + ".recurrent", {s.gate_columns(), s.hidden},
                                        {Initial::Kind::kNormal, deviation});
  const Shape state{s.steps * s.rows, s.hidden};
  const ValueId h = add_output(graph, name, state);
  const ValueId gates = add_output(graph, name + ".gates", {s.steps * s.rows, s.gate_columns()});
  const ValueId cell = add_output(graph, name + ".cell", state);
  const ValueId before = add_output(graph, name + ".before", state);
  graph.add_node({&kLstm,
                  name,
                  Phase::kForward,
                  NodeId::none(),
                  {input, weights, tokens},
                  {h, gates, cell, before},
                  by});
  return h;
}

}  // namespace headway::trainer::ops
