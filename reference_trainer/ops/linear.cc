// SPDX-License-Identifier: MIT
// Fully connected layer: y = x · wᵀ + b, w [out, in].
#include <cmath>

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

/// Every form multiplies and adds once per (row, in, out).
Work product_work(const Graph& graph, const Node& node, ValueId a, ValueId b) {
  const Shape& x = graph.value(a).shape;
  return {2 * x[0] * x[1] * graph.value(b).shape[1], operand_bytes(graph, node)};
}

Work forward_work(const Graph& graph, const Node& node) {
  return product_work(graph, node, node.inputs[0], node.outputs[0]);
}
Work backward_data_work(const Graph& graph, const Node& node) {
  return product_work(graph, node, node.inputs[0], node.outputs[0]);
}
Work backward_weights_work(const Graph& graph, const Node& node) {
  return product_work(graph, node, node.inputs[0], node.inputs[1]);
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId dy = gradients.of(node.outputs[0]);
  const auto [x, w, b] = std::tuple{node.inputs[0], node.inputs[1], node.inputs[2]};
  if (gradients.needs_gradient(x))
    gradients.accumulate(id, x, gradients.emit(kLinearBackwardData, id, {dy, w}, {x})[0]);
  const auto outputs = gradients.emit(kLinearBackwardWeights, id, {dy, x}, {w, b});
  gradients.accumulate(id, w, outputs[0]);
  gradients.accumulate(id, b, outputs[1]);
}

}  // namespace

const OpDefinition kLinear{"linear", "x, weights, bias -> y", forward_work, differentiate};
const OpDefinition kLinearBackwardData{"linear_backward_data", "dy, weights -> dx",
                                       backward_data_work};
const OpDefinition kLinearBackwardWeights{"linear_backward_weights", "dy, x -> dweights, dbias",
                                          backward_weights_work};

ValueId linear(Graph& graph, const std::string& name, ValueId x, std::int64_t out_features) {
  const Shape in = graph.value(x).shape;
  require(in.rank() == 2, kLinear, name, "an input of rank 2 (rows, features)", in);
  const float deviation = 1 / std::sqrt(static_cast<float>(in[1]));
  const ValueId w = add_parameter(graph, name + ".weight", {out_features, in[1]},
                                  {Initial::Kind::kNormal, deviation});
  const ValueId b =
      add_parameter(graph, name + ".bias", {out_features}, {Initial::Kind::kConstant, 0});
  return add_forward(graph, kLinear, name, {x, w, b}, {in[0], out_features});
}

}  // namespace headway::trainer::ops
