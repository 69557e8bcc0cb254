// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/step_memory.h"

#include "common/error.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {

StepMemory::StepMemory(const Graph& graph, const CompileOptions& options) {
  if (!options.raw_allocator || options.keep_activations) return;
  graph_ = &graph;
  lifetimes_ = lifetimes(graph);
  held_.resize(graph.value_count());
}

bool StepMemory::comes_and_goes(ValueId value) const {
  return raw() && graph_->value(value).role == Role::kActivation;
}

void StepMemory::begin(NodeId node, const std::function<void(ValueId)>& get,
                       const std::function<void()>& get_scratch) {
  try {
    for (ValueId value : lifetimes_.first[node.value]) {
      if (held_[value.value]) continue;  // held since the micro batch before
      get(value);
      held_[value.value] = true;
    }
    get_scratch();
  } catch (const Error& error) {
    const Node& of = graph_->node(node);
    fail_internal("Before op '{}' ({}): {}", of.name, of.op->type, error.what());
  }
}

void StepMemory::end(NodeId node, const std::function<void(ValueId)>& give_back) {
  for (ValueId value : lifetimes_.last[node.value]) {
    if (!held_[value.value]) continue;
    held_[value.value] = false;
    give_back(value);
  }
}

void StepMemory::end_all(const std::function<void(ValueId)>& give_back) {
  for (std::size_t i = 0; i < held_.size(); ++i) {
    if (held_[i]) give_back(ValueId::from(i));
    held_[i] = false;
  }
}

}  // namespace headway::trainer
