// SPDX-License-Identifier: MIT
#include "reference_trainer/ops/autodiff.h"

#include <algorithm>

#include "common/error.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {

void Gradients::run(ValueId loss) {
  influenced_.assign(graph_.value_count(), false);
  for (ValueId parameter : graph_.parameters()) influenced_[parameter.value] = true;
  const std::size_t forward_nodes = graph_.node_count();
  for (const Node& node : graph_.nodes()) {
    const bool any = std::ranges::any_of(node.inputs, [&](ValueId v) { return needs_gradient(v); });
    for (ValueId output : node.outputs) influenced_[output.value] = any;
  }
  const NodeId loss_node = graph_.value(loss).producer;
  for (std::size_t i = forward_nodes; i-- > 0;) {
    const NodeId id = NodeId::from(i);
    const Node& node = graph_.node(id);
    const bool reached = id == loss_node || std::ranges::any_of(node.outputs, [&](ValueId output) {
                           return of(output).valid();
                         });
    const bool wanted =
        std::ranges::any_of(node.inputs, [&](ValueId input) { return needs_gradient(input); });
    if (!reached || !wanted) continue;
    if (!node.op->differentiate)
      fail_internal("Op '{}' ({}) has no gradient.", node.name, node.op->type);
    node.op->differentiate(*this, id);
  }
}

bool Gradients::needs_gradient(ValueId value) const {
  return value.value < influenced_.size() && influenced_[value.value];
}

ValueId Gradients::of(ValueId value) const {
  auto found = gradient_of_.find(value);
  return found == gradient_of_.end() ? ValueId::none() : found->second;
}

std::vector<ValueId> Gradients::emit(const OpDefinition& op, NodeId of, std::vector<ValueId> inputs,
                                     const std::vector<ValueId>& like,
                                     std::optional<Attributes> attributes) {
  const Node forward = graph_.node(of);
  Node node{&op,
            forward.name,
            Phase::kBackward,
            of,
            std::move(inputs),
            {},
            attributes.value_or(forward.attributes)};
  for (ValueId model : like) {
    Value gradient;
    gradient.name = "d " + graph_.value(model).name;
    gradient.shape = graph_.value(model).shape;
    gradient.like = model;
    node.outputs.push_back(graph_.add_value(std::move(gradient)));
  }
  std::vector<ValueId> outputs = node.outputs;
  graph_.add_node(std::move(node));
  return outputs;
}

void Gradients::accumulate(NodeId of_node, ValueId value, ValueId gradient) {
  const ValueId before = of(value);
  gradient_of_[value] =
      before.valid() ? emit(ops::kAdd, of_node, {before, gradient}, {value})[0] : gradient;
}

}  // namespace headway::trainer
