// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/insert_zeros.h"

#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

/// The output shape of the convolution without its stride.
Shape without_stride(const Graph& graph, const Node& gradient, const ConvolutionAttributes& by) {
  const Shape& x = graph.value(gradient.outputs[0]).shape;
  const Shape& dy = graph.value(gradient.inputs[0]).shape;
  const std::int64_t kernel = graph.value(gradient.inputs[1]).shape[2];
  auto extent = [&](std::int64_t size) { return size + 2 * by.padding - kernel + 1; };
  if (by.channels_first) return {dy[0], dy[1], extent(x[2]), extent(x[3])};
  return {dy[0], extent(x[1]), extent(x[2]), dy[3]};
}

ValueId add_spread(Graph& graph, const Node& gradient, const ConvolutionAttributes& by) {
  Value spread;
  spread.name = graph.value(gradient.inputs[0]).name + ".spread";
  spread.shape = without_stride(graph, gradient, by);
  spread.channels_first = by.channels_first;
  return graph.add_value(std::move(spread));
}

}  // namespace

int insert_zeros(Graph& graph) {
  int count = 0;
  std::vector<Node> nodes;
  std::vector<NodeId> moved;
  const std::vector<Node> old = graph.nodes();
  for (Node node : old) {
    if (node.forward.valid()) node.forward = moved[node.forward.value];
    const auto* by = std::get_if<ConvolutionAttributes>(&node.attributes);
    if (node.op == &ops::kConv2dBackwardData && by->stride > 1) {
      const ValueId spread = add_spread(graph, node, *by);
      Node zeros = node;
      zeros.op = &ops::kInsertZeros;
      zeros.inputs = {node.inputs[0]};
      zeros.outputs = {spread};
      nodes.push_back(std::move(zeros));
      node.inputs[0] = spread;
      std::get<ConvolutionAttributes>(node.attributes).stride = 1;
      ++count;
    }
    moved.push_back(NodeId::from(nodes.size()));
    nodes.push_back(std::move(node));
  }
  graph.replace_nodes(std::move(nodes));
  return count;
}

}  // namespace headway::trainer
