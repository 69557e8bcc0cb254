// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/fold_batch_norm.h"

#include <cmath>

#include "reference_trainer/ops/op.h"
#include "reference_trainer/ops/support.h"
#include "reference_trainer/passes/rewrite.h"

namespace headway::trainer {
namespace {

/// Names of the folded parameters and of the results.
struct Names {
  std::string weights, gamma, beta, mean, variance;
  std::string folded_weights, folded_bias;
};

void fold(const Names& names, float epsilon, ParameterSet& set) {
  if (!set.contains(names.weights)) return;  // a device that does not compute has no values
  std::vector<float> weights = set.at(names.weights);
  const std::vector<float>& gamma = set.at(names.gamma);
  const std::vector<float>& mean = set.at(names.mean);
  std::vector<float> bias = set.at(names.beta);
  const std::size_t channels = gamma.size();
  const std::size_t each = weights.size() / channels;
  for (std::size_t k = 0; k < channels; ++k) {
    const float factor = gamma[k] / std::sqrt(set.at(names.variance)[k] + epsilon);
    for (std::size_t i = 0; i < each; ++i) weights[k * each + i] *= factor;
    bias[k] -= mean[k] * factor;
  }
  set[names.folded_weights] = std::move(weights);
  set[names.folded_bias] = std::move(bias);
}

}  // namespace

int fold_batch_norm(Graph& graph, ParameterSet& parameters) {
  Rewrite rewrite(graph);
  const std::size_t count = graph.node_count();
  for (std::size_t i = 0; i < count; ++i) {
    const Node norm = graph.nodes()[i];
    if (norm.op != &ops::kBatchNorm) continue;
    const auto& by = std::get<BatchNormAttributes>(norm.attributes);
    HEADWAY_INVARIANT(!by.training);
    const NodeId convolution = rewrite.sole_producer(norm.inputs[0], ops::kConv2d);
    if (!convolution.valid()) continue;
    Node folded = graph.node(convolution);
    auto name_of = [&](ValueId value) { return graph.value(value).name; };
    const Names names = {name_of(folded.inputs[1]),   name_of(norm.inputs[1]),
                         name_of(norm.inputs[2]),     name_of(norm.inputs[3]),
                         name_of(norm.inputs[4]),     name_of(folded.inputs[1]) + ".folded",
                         folded.name + ".bias.folded"};
    fold(names, by.epsilon, parameters);
    const ValueId weights =
        ops::add_parameter(graph, names.folded_weights, graph.value(folded.inputs[1]).shape, {});
    graph.value(weights).is_filter = true;
    const ValueId bias =
        ops::add_parameter(graph, names.folded_bias, graph.value(norm.inputs[2]).shape, {});
    folded.op = &ops::kConv2dFused;
    folded.inputs = {folded.inputs[0], weights, bias};
    folded.outputs = {norm.outputs[0]};
    folded.attributes = FusedProductAttributes{std::get<ConvolutionAttributes>(folded.attributes)};
    rewrite.replace({convolution, NodeId::from(i)}, std::move(folded));
  }
  return rewrite.apply();
}

}  // namespace headway::trainer
