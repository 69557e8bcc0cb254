// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/fuse_bias.h"

#include "reference_trainer/ops/op.h"
#include "reference_trainer/passes/rewrite.h"

namespace headway::trainer {

int fuse_bias_gelu(Graph& graph) {
  Rewrite rewrite(graph);
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& gelu = graph.nodes()[i];
    if (gelu.op != &ops::kGelu) continue;
    const NodeId sum = rewrite.sole_producer(gelu.inputs[0], ops::kBiasAdd);
    if (!sum.valid()) continue;
    Node fused = graph.node(sum);
    fused.op = &ops::kBiasGelu;
    fused.name = gelu.name;
    fused.outputs = gelu.outputs;
    fused.attributes = NoAttributes{};
    rewrite.replace({sum, NodeId::from(i)}, std::move(fused));
  }
  return rewrite.apply();
}

int fuse_bias_into_product(Graph& graph, const OpDefinition& into,
                           const std::optional<Attributes>& attributes) {
  Rewrite rewrite(graph);
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& sum = graph.nodes()[i];
    if (sum.op != &ops::kBiasAdd) continue;
    const NodeId product = rewrite.sole_producer(sum.inputs[0], ops::kMatmul);
    if (!product.valid()) continue;
    Node fused = graph.node(product);
    fused.op = &into;
    fused.inputs.push_back(sum.inputs[1]);
    fused.outputs = sum.outputs;
    if (attributes) fused.attributes = *attributes;
    rewrite.replace({product, NodeId::from(i)}, std::move(fused));
  }
  return rewrite.apply();
}

int fuse_linear_bias(Graph& graph) {
  return fuse_bias_into_product(graph, ops::kLinear);
}

}  // namespace headway::trainer
