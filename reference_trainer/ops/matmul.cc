// SPDX-License-Identifier: MIT
// The product of a linear layer without its bias, y = x · wᵀ, and bias with GELU in one pass
// (kernels/bias_activation/op.h). projection() builds a linear layer from a product and a bias_add,
// which passes/fuse_bias.h joins.
#include <cmath>

#include "kernels/bias_activation/op.h"
#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work product_work(const Graph& graph, const Node& node) {
  const Shape& x = graph.value(node.inputs[node.op == &kMatmulBackwardWeights ? 1 : 0]).shape;
  const ValueId other = node.op == &kMatmul ? node.outputs[0] : node.inputs[0];
  return {2 * x[0] * x[1] * graph.value(other).shape[1], operand_bytes(graph, node)};
}

Work bias_gelu_work(const Graph& graph, const Node& node) {
  const Shape& x = graph.value(node.inputs[0]).shape;
  return node.op == &kBiasGelu ? kernels::bias_gelu_forward_work(x[0], x[1])
                               : kernels::bias_gelu_backward_work(x[0], x[1]);
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId dy = gradients.of(node.outputs[0]);
  const ValueId x = node.inputs[0];
  const ValueId w = node.inputs[1];
  if (gradients.needs_gradient(x))
    gradients.accumulate(id, x, gradients.emit(kLinearBackwardData, id, {dy, w}, {x})[0]);
  gradients.accumulate(id, w, gradients.emit(kMatmulBackwardWeights, id, {dy, x}, {w})[0]);
}

void differentiate_bias_gelu(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId x = node.inputs[0];
  const ValueId bias = node.inputs[1];
  const auto outputs =
      gradients.emit(kBiasGeluBackward, id, {x, bias, gradients.of(node.outputs[0])}, {x, bias});
  gradients.accumulate(id, x, outputs[0]);
  gradients.accumulate(id, bias, outputs[1]);
}

}  // namespace

const OpDefinition kMatmul{"matmul", "x, weights -> y", product_work, differentiate};
const OpDefinition kMatmulBackwardWeights{"matmul_backward_weights", "dy, x -> dweights",
                                          product_work};
const OpDefinition kBiasGelu{"bias_gelu", "x, bias -> gelu(x + bias)", bias_gelu_work,
                             differentiate_bias_gelu};
const OpDefinition kBiasGeluBackward{"bias_gelu_backward", "x, bias, dy -> dx, dbias",
                                     bias_gelu_work};

ValueId matmul(Graph& graph, const std::string& name, ValueId x, std::int64_t out_features,
               float gain) {
  const Shape in = graph.value(x).shape;
  require(in.rank() == 2, kMatmul, name, "an input of rank 2 (rows, features)", in);
  const float deviation = gain / std::sqrt(static_cast<float>(in[1]));
  const ValueId w = add_parameter(graph, name + ".weight", {out_features, in[1]},
                                  {Initial::Kind::kNormal, deviation});
  return add_forward(graph, kMatmul, name, {x, w}, {in[0], out_features});
}

ValueId projection(Graph& graph, const std::string& name, ValueId x, std::int64_t out_features,
                   float gain) {
  const ValueId y = matmul(graph, name, x, out_features, gain);
  const ValueId bias =
      add_parameter(graph, name + ".bias", {out_features}, {Initial::Kind::kConstant, 0});
  return bias_add(graph, name + ".bias_add", y, bias);
}

}  // namespace headway::trainer::ops
