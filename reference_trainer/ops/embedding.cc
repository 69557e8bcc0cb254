// SPDX-License-Identifier: MIT
#include "kernels/embedding/op.h"

#include "reference_trainer/ops/embedding.h"
#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work forward_work(const Graph& graph, const Node& node) {
  return kernels::embedding_forward_work(
      embedding_shape(graph, node, node.inputs[0], node.inputs[1], node.outputs[0]),
      node.inputs.size() > 2);
}
Work backward_work(const Graph& graph, const Node& node) {
  return kernels::embedding_backward_work(
      embedding_shape(graph, node, node.inputs[0], node.outputs[0], node.inputs[1]),
      node.outputs.size() > 1);
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const std::vector<ValueId> tables(node.inputs.begin() + 1, node.inputs.end());
  const auto outputs = gradients.emit(kEmbeddingBackward, id,
                                      {node.inputs[0], gradients.of(node.outputs[0])}, tables);
  for (std::size_t i = 0; i < tables.size(); ++i) gradients.accumulate(id, tables[i], outputs[i]);
}

}  // namespace

const OpDefinition kEmbedding{"embedding", "tokens, table[, positions] -> rows of the table",
                              forward_work, differentiate};
const OpDefinition kEmbeddingBackward{"embedding_backward", "tokens, dy -> dtable[, dpositions]",
                                      backward_work};

kernels::EmbeddingShape embedding_shape(const Graph& graph, const Node& node, ValueId tokens,
                                        ValueId table, ValueId rows) {
  return {elements(graph, tokens), std::get<EmbeddingAttributes>(node.attributes).length,
          graph.value(rows).shape[1], graph.value(table).shape[0]};
}

ValueId embedding(Graph& graph, const std::string& name, ValueId tokens, std::int64_t entries,
                  std::int64_t columns, std::int64_t length, bool positions, std::int64_t places) {
  const Initial initial{Initial::Kind::kNormal, 0.02F};
  std::vector<ValueId> inputs = {
      tokens, add_parameter(graph, name + ".weight", {entries, columns}, initial)};
  if (positions)
    inputs.push_back(add_parameter(graph, name + ".positions",
                                   {places > 0 ? places : length, columns}, initial));
  return add_forward(graph, kEmbedding, name, inputs, {elements(graph, tokens), columns},
                     EmbeddingAttributes{length});
}

}  // namespace headway::trainer::ops
