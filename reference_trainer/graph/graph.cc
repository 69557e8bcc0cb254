// SPDX-License-Identifier: MIT
#include "reference_trainer/graph/graph.h"

#include <algorithm>

#include "common/error.h"
#include "common/format.h"
#include "reference_trainer/graph/op_definition.h"

namespace headway::trainer {

ValueId Graph::add_value(Value value) {
  values_.push_back(std::move(value));
  return ValueId::from(values_.size() - 1);
}

NodeId Graph::add_node(Node node) {
  const NodeId id = NodeId::from(nodes_.size());
  for (ValueId output : node.outputs) values_[output.value].producer = id;
  nodes_.push_back(std::move(node));
  return id;
}

ValueId Graph::find(std::string_view name) const {
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (values_[i].name == name) return ValueId::from(i);
  fail_internal("The graph has no value '{}'.", name);
}

ValueId Graph::owner(ValueId id) const {
  while (value(id).like.valid()) id = value(id).like;
  return id;
}

std::vector<NodeId> Graph::consumers(ValueId id) const {
  std::vector<NodeId> result;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (std::ranges::find(nodes_[i].inputs, id) != nodes_[i].inputs.end())
      result.push_back(NodeId::from(i));
  return result;
}

void Graph::replace_nodes(std::vector<Node> nodes) {
  nodes_ = std::move(nodes);
  for (Value& value : values_) value.producer = NodeId::none();
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    for (ValueId output : nodes_[i].outputs) values_[output.value].producer = NodeId::from(i);
}

std::vector<ValueId> Graph::parameters() const {
  std::vector<ValueId> result;
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (values_[i].role == Role::kParameter) result.push_back(ValueId::from(i));
  return result;
}

std::string describe(const Graph& graph) {
  std::string text;
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& node = graph.nodes()[i];
    const Work work = node.op->work(graph, node);
    std::string inputs;
    for (ValueId input : node.inputs)
      inputs += (inputs.empty() ? "" : ", ") + graph.value(input).name;
    const std::string shape =
        node.outputs.empty() ? "in place" : graph.value(node.outputs[0]).shape.text();
    text += fmt::format("{:4} {:31} {:24} -> {:14} {:8.2f} MFLOP {:>9}  ({})\n", i, node.op->type,
                        node.name, shape, static_cast<double>(work.flops) * 1e-6,
                        format_bytes(work.bytes), inputs);
  }
  return text;
}

}  // namespace headway::trainer
