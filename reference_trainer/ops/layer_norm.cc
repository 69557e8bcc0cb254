// SPDX-License-Identifier: MIT
// Layer normalisation (mathematics in kernels/layer_norm/op.h), alone or with the residual add
// before it; passes/fuse_layer_norm.h makes both from the chain of elementwise ops that
// layer_norm() builds.
//   layer_norm      x, gamma, beta          -> y, mean, rstd
//   add_layer_norm  a, b, gamma, beta       -> y, a + b, mean, rstd
#include "kernels/layer_norm/op.h"

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

kernels::LayerNormShape shape_of(const Graph& graph, const Node& node) {
  const Shape& shape = graph.value(node.outputs[0]).shape;
  return {shape[0], shape[1]};
}

Work forward_work(const Graph& graph, const Node& node) {
  return kernels::layer_norm_forward_work(shape_of(graph, node), node.op == &kAddLayerNorm);
}
Work backward_work(const Graph& graph, const Node& node) {
  return kernels::layer_norm_backward_work(shape_of(graph, node), node.inputs.size() > 5);
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const bool with_add = node.op == &kAddLayerNorm;
  const std::size_t first = with_add ? 2 : 1;  // index of gamma and beta, and of the statistics
  const ValueId gamma = node.inputs[first];
  const ValueId beta = node.inputs[first + 1];
  const ValueId x = with_add ? node.outputs[1] : node.inputs[0];
  std::vector<ValueId> inputs = {x, gradients.of(node.outputs[0]), gamma, node.outputs[first],
                                 node.outputs[first + 1]};
  if (with_add && gradients.of(x).valid()) inputs.push_back(gradients.of(x));
  const auto outputs = gradients.emit(with_add ? kAddLayerNormBackward : kLayerNormBackward, id,
                                      inputs, {x, gamma, beta});
  for (std::size_t i = 0; i < first; ++i)
    if (gradients.needs_gradient(node.inputs[i]))
      gradients.accumulate(id, node.inputs[i], outputs[0]);
  gradients.accumulate(id, gamma, outputs[1]);
  gradients.accumulate(id, beta, outputs[2]);
}

}  // namespace

const OpDefinition kLayerNorm{"layer_norm", "x, gamma, beta -> y, mean, rstd", forward_work,
                              differentiate};
const OpDefinition kLayerNormBackward{
    "layer_norm_backward", "x, dy, gamma, mean, rstd -> dx, dgamma, dbeta", backward_work};
const OpDefinition kAddLayerNorm{"add_layer_norm", "a, b, gamma, beta -> y, a + b, mean, rstd",
                                 forward_work, differentiate};
const OpDefinition kAddLayerNormBackward{"add_layer_norm_backward",
                                         "x, dy, gamma, mean, rstd, dx so far -> dx, dgamma, dbeta",
                                         backward_work};

ValueId layer_norm(Graph& graph, const std::string& name, ValueId x) {
  const Shape in = graph.value(x).shape;
  require(in.rank() == 2, kLayerNorm, name, "an input of rank 2 (rows, features)", in);
  const ValueId gamma =
      add_parameter(graph, name + ".weight", {in[1]}, {Initial::Kind::kConstant, 1});
  const ValueId beta = add_parameter(graph, name + ".bias", {in[1]}, {Initial::Kind::kConstant, 0});
  const ValueId mean = row_mean(graph, name + ".mean", x);
  const ValueId centred = sub(graph, name + ".centre", x, mean);
  const ValueId squares = mul(graph, name + ".square", centred, centred);
  const ValueId variance = row_mean(graph, name + ".variance", squares);
  const ValueId rstd = rsqrt(graph, name + ".rstd", variance, LayerNormAttributes{}.epsilon);
  const ValueId normal = mul(graph, name + ".normalise", centred, rstd);
  const ValueId scaled = mul(graph, name + ".scale", normal, gamma);
  return bias_add(graph, name, scaled, beta);
}

}  // namespace headway::trainer::ops
