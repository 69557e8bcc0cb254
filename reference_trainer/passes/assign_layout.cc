// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/assign_layout.h"

#include <map>

#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

/// Appends nodes to an empty graph, each after the transposes that it needs.
class Assignment {
 public:
  explicit Assignment(Graph& graph) : graph_(graph) {}

  void add(Node node) {
    const bool first = node.op == &ops::kConv2d;
    for (ValueId& input : node.inputs)
      if (is_image(input)) input = in_order(input, first);
    if (first) {
      std::get<ConvolutionAttributes>(node.attributes).channels_first = true;
      graph_.value(node.inputs[1]).channels_first = true;
      Value& y = graph_.value(node.outputs[0]);
      y.channels_first = true;
      y.shape = {y.shape[0], y.shape[3], y.shape[1], y.shape[2]};
    }
    graph_.add_node(std::move(node));
  }
  int transposes() const { return static_cast<int>(other_order_.size()); }

 private:
  bool is_image(ValueId id) const {
    const Value& value = graph_.value(id);
    return value.shape.rank() == 4 && !value.is_filter;
  }

  ValueId in_order(ValueId id, bool first) {
    if (graph_.value(id).channels_first == first) return id;
    if (const auto found = other_order_.find(id); found != other_order_.end()) return found->second;
    const std::string name = graph_.value(id).name;
    return other_order_[id] =
               first ? ops::nhwc_to_nchw(graph_, name, id) : ops::nchw_to_nhwc(graph_, name, id);
  }

  Graph& graph_;
  std::map<ValueId, ValueId> other_order_;
};

}  // namespace

int assign_channels_first(Graph& graph) {
  std::vector<Node> nodes = graph.nodes();
  graph.replace_nodes({});
  Assignment assignment(graph);
  for (Node& node : nodes) assignment.add(std::move(node));
  return assignment.transposes();
}

}  // namespace headway::trainer
