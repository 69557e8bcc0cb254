// SPDX-License-Identifier: MIT
// Moves of rows for models of sequences, and the mask of padding.
#include "kernels/sequence/op.h"

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work work(const Graph& graph, const Node& node) {
  return {0, operand_bytes(graph, node)};
}

void differentiate_split(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  gradients.accumulate(
      id, node.inputs[0],
      gradients.emit(kJoinRows, id, {gradients.of(node.outputs[0]), gradients.of(node.outputs[1])},
                     {node.inputs[0]})[0]);
}

void differentiate_swap(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const auto by = std::get<SwapAttributes>(node.attributes);
  gradients.accumulate(id, node.inputs[0],
                       gradients.emit(kSwapMajor, id, {gradients.of(node.outputs[0])},
                                      {node.inputs[0]}, SwapAttributes{by.inner, by.outer})[0]);
}

/// Masked positions have probability 0, so the gradient of a softmax after the mask is 0 there.
void differentiate_mask(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  gradients.accumulate(id, node.inputs[0], gradients.of(node.outputs[0]));
}

}  // namespace

const OpDefinition kSplitRows{"split_rows", "x -> its first rows, the others", work,
                              differentiate_split};
const OpDefinition kJoinRows{"join_rows", "a, b -> the rows of both", work};
const OpDefinition kSwapMajor{"swap_major", "rows in the other order of two indexes", work,
                              differentiate_swap};
const OpDefinition kPaddingMask{"padding_mask", "scores, tokens -> scores or -1e30", work,
                                differentiate_mask};

std::pair<ValueId, ValueId> split_rows(Graph& graph, const std::string& name, ValueId x,
                                       std::int64_t first) {
  const Shape in = graph.value(x).shape;
  require(in.rank() == 2 && first > 0 && first < in[0], kSplitRows, name, "more rows than that",
          in);
  const ValueId a = add_output(graph, name + ".first", {first, in[1]});
  const ValueId b = add_output(graph, name + ".second", {in[0] - first, in[1]});
  graph.add_node({&kSplitRows, name, Phase::kForward, NodeId::none(), {x}, {a, b}, {}});
  return {a, b};
}

ValueId swap_major(Graph& graph, const std::string& name, ValueId x, std::int64_t outer,
                   std::int64_t inner) {
  const Shape in = graph.value(x).shape;
  require(in.rank() == 2 && in[0] == outer * inner, kSwapMajor, name, "outer·inner rows", in);
  return add_forward(graph, kSwapMajor, name, {x}, in, SwapAttributes{outer, inner});
}

ValueId swap_pieces(Graph& graph, const std::string& name, ValueId x, std::int64_t outer,
                    std::int64_t inner) {
  const Shape in = graph.value(x).shape;
  require(in.rank() == 2 && in[0] % (outer * inner) == 0, kSwapMajor, name,
          "a multiple of outer·inner rows", in);
  return add_forward(graph, kSwapMajor, name, {x}, in, SwapAttributes{outer, inner});
}

ValueId padding_mask(Graph& graph, const std::string& name, ValueId scores, ValueId tokens,
                     std::int64_t batch) {
  const Shape shape = graph.value(scores).shape;
  return add_forward(graph, kPaddingMask, name, {scores, tokens}, shape,
                     SwapAttributes{batch, shape[0] / batch});
}

ValueId tanh(Graph& graph, const std::string& name, ValueId x) {
  return add_forward(graph, kTanh, name, {x}, graph.value(x).shape,
                     RowAttributes{kernels::RowOp::kTanh, 0, 0, {}});
}

}  // namespace headway::trainer::ops
