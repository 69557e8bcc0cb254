// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/drop_unused.h"

#include <map>

namespace headway::trainer {
namespace {

/// Builds a graph with only the used values, in their order.
class Kept {
 public:
  explicit Kept(const Graph& old) : old_(old), used_(old.value_count()) {}

  void use(ValueId value) {
    for (; value.valid() && !used_[value.value]; value = old_.value(value).like)
      used_[value.value] = true;
  }

  Graph take() {
    Graph graph;
    for (std::size_t i = 0; i < used_.size(); ++i)
      if (used_[i]) place_[ValueId::from(i)] = graph.add_value(old_.values()[i]);
    for (std::size_t i = 0; i < graph.value_count(); ++i) {
      Value& value = graph.value(ValueId::from(i));
      value.like = at(value.like);
    }
    std::vector<Node> nodes = old_.nodes();
    for (Node& node : nodes)
      for (auto* list : {&node.inputs, &node.outputs})
        for (ValueId& value : *list) value = at(value);
    graph.replace_nodes(std::move(nodes));
    return graph;
  }

  ValueId at(ValueId old) const { return old.valid() ? place_.at(old) : old; }

 private:
  const Graph& old_;
  std::vector<bool> used_;
  std::map<ValueId, ValueId> place_;
};

}  // namespace

void drop_unused(Model& model) {
  Kept kept(model.graph);
  for (const Node& node : model.graph.nodes())
    for (const auto* list : {&node.inputs, &node.outputs})
      for (ValueId value : *list) kept.use(value);
  for (ValueId value : {model.images, model.labels, model.boxes, model.figures}) kept.use(value);
  Graph graph = kept.take();
  for (ValueId* value : {&model.images, &model.labels, &model.boxes, &model.figures})
    *value = kept.at(*value);
  model.graph = std::move(graph);
}

}  // namespace headway::trainer
