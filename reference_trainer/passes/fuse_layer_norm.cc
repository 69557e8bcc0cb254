// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/fuse_layer_norm.h"

#include <optional>

#include "reference_trainer/ops/op.h"
#include "reference_trainer/passes/rewrite.h"

namespace headway::trainer {
namespace {

/// The nodes of one layer normalisation, in order, and its operands.
struct Chain {
  NodeId mean, centre, square, variance, rstd, normalise, scale;
  ValueId x, gamma;
  float epsilon = 0;
};

std::optional<Chain> find_chain(const Graph& graph, const Rewrite& rewrite, ValueId scaled) {
  Chain c;
  c.scale = rewrite.sole_producer(scaled, ops::kMul);
  if (!c.scale.valid()) return {};
  c.gamma = graph.node(c.scale).inputs[1];
  c.normalise = rewrite.sole_producer(graph.node(c.scale).inputs[0], ops::kMul);
  if (!c.normalise.valid() || graph.value(c.gamma).role != Role::kParameter) return {};
  const ValueId centred = graph.node(c.normalise).inputs[0];
  c.rstd = rewrite.sole_producer(graph.node(c.normalise).inputs[1], ops::kRsqrt);
  if (!c.rstd.valid()) return {};
  c.epsilon = std::get<RowAttributes>(graph.node(c.rstd).attributes).constant;
  c.variance = rewrite.sole_producer(graph.node(c.rstd).inputs[0], ops::kRowMean);
  if (!c.variance.valid()) return {};
  c.square = rewrite.sole_producer(graph.node(c.variance).inputs[0], ops::kMul);
  if (!c.square.valid() || graph.node(c.square).inputs != std::vector<ValueId>{centred, centred})
    return {};
  c.centre = rewrite.producer(centred, ops::kSub);
  if (!c.centre.valid() || graph.consumers(centred).size() != 2) return {};
  c.x = graph.node(c.centre).inputs[0];
  c.mean = rewrite.sole_producer(graph.node(c.centre).inputs[1], ops::kRowMean);
  if (!c.mean.valid() || graph.node(c.mean).inputs[0] != c.x) return {};
  return c;
}

ValueId add_statistic(Graph& graph, const std::string& name, std::int64_t rows) {
  Value value;
  value.name = name;
  value.shape = {rows};
  return graph.add_value(std::move(value));
}

}  // namespace

int fuse_layer_norm(Graph& graph) {
  Rewrite rewrite(graph);
  const std::size_t node_count = graph.node_count();
  for (std::size_t i = 0; i < node_count; ++i) {
    const Node shift = graph.nodes()[i];
    if (shift.op != &ops::kBiasAdd) continue;
    const auto chain = find_chain(graph, rewrite, shift.inputs[0]);
    if (!chain) continue;
    Node fused = shift;
    fused.op = &ops::kLayerNorm;
    fused.inputs = {chain->x, chain->gamma, shift.inputs[1]};
    fused.attributes = LayerNormAttributes{chain->epsilon};
    const std::int64_t rows = graph.value(shift.outputs[0]).shape[0];
    for (const char* which : {".saved_mean", ".saved_rstd"})
      fused.outputs.push_back(add_statistic(graph, shift.name + which, rows));
    rewrite.replace({chain->mean, chain->centre, chain->square, chain->variance, chain->rstd,
                     chain->normalise, chain->scale, NodeId::from(i)},
                    std::move(fused));
  }
  return rewrite.apply();
}

int fuse_add_layer_norm(Graph& graph) {
  Rewrite rewrite(graph);
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& norm = graph.nodes()[i];
    if (norm.op != &ops::kLayerNorm) continue;
    const NodeId sum = rewrite.producer(norm.inputs[0], ops::kAdd);
    if (!sum.valid()) continue;
    Node fused = norm;
    fused.op = &ops::kAddLayerNorm;
    const std::vector<ValueId>& operands = graph.node(sum).inputs;
    fused.inputs = {operands[0], operands[1], norm.inputs[1], norm.inputs[2]};
    fused.outputs = {norm.outputs[0], norm.inputs[0], norm.outputs[1], norm.outputs[2]};
    rewrite.replace({sum, NodeId::from(i)}, std::move(fused));
  }
  return rewrite.apply();
}

}  // namespace headway::trainer
