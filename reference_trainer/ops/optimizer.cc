// SPDX-License-Identifier: MIT
#include "reference_trainer/ops/optimizer.h"

#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

struct Kind {
  const OpDefinition* one;
  const OpDefinition* all;
  std::vector<const char*> memory;  ///< values kept per parameter
};

Kind kind_of(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return {&ops::kSgdMomentum, &ops::kSgdMomentumMultiTensor, {".velocity"}};
    case OptimizerKind::kAdam:
      return {&ops::kAdam, &ops::kAdamMultiTensor, {".mean_gradient", ".mean_square"}};
    case OptimizerKind::kLamb:
      return {
          &ops::kLamb, &ops::kLambMultiTensor, {".mean_gradient", ".mean_square", ".direction"}};
    case OptimizerKind::kLars:
      return {&ops::kLars, &ops::kLarsMultiTensor, {".velocity"}};
  }
  return {};
}

/// Adds state with the parameter's shape and layout; `copy`: it starts as a copy of the parameter.
ValueId add_memory(Graph& graph, ValueId parameter, const char* suffix, bool copy) {
  Value memory;
  memory.name = graph.value(parameter).name + suffix;
  memory.shape = graph.value(parameter).shape;
  memory.role = Role::kState;
  memory.like = parameter;
  memory.copies_parameter = copy;
  return graph.add_value(std::move(memory));
}

std::vector<ValueId> operands(Graph& graph, ValueId parameter, ValueId gradient,
                              const OptimizerAttributes& attributes) {
  std::vector<ValueId> list = {parameter, gradient};
  for (const char* suffix : kind_of(attributes.kind).memory)
    list.push_back(add_memory(graph, parameter, suffix, false));
  if (attributes.kind == OptimizerKind::kSgd) std::swap(list[1], list[2]);
  if (attributes.has_master()) list.push_back(add_memory(graph, parameter, ".master", true));
  return list;
}

void add_update(Graph& graph, const OpDefinition& op, const std::string& name, NodeId forward,
                std::vector<ValueId> inputs, const OptimizerAttributes& attributes) {
  graph.add_node({&op, name, Phase::kUpdate, forward, std::move(inputs), {}, attributes});
}

}  // namespace

std::size_t operands_per_parameter(const OptimizerAttributes& attributes) {
  return 2 + kind_of(attributes.kind).memory.size() + (attributes.has_master() ? 1 : 0);
}

void add_optimizer(Graph& graph, const Gradients& gradients,
                   const OptimizerAttributes& attributes) {
  const bool together = attributes.fusion == OptimizerFusion::kMultiTensor;
  const std::string all_name = "all parameters";
  std::vector<ValueId> trained;
  std::vector<ValueId> all_gradients;
  for (ValueId parameter : graph.parameters()) {
    if (!gradients.of(parameter).valid()) continue;
    trained.push_back(parameter);
    all_gradients.push_back(gradients.of(parameter));
  }
  if (trained.empty()) return;
  auto name_of = [&](std::size_t i) { return graph.value(trained[i]).name; };
  auto forward_of = [&](std::size_t i) { return graph.consumers(trained[i]).front(); };
  const ValueId state = attributes.has_state() ? graph.find(kOptimizerState) : ValueId::none();
  auto with_state = [&](std::vector<ValueId> list) {
    if (state.valid()) list.push_back(state);
    return list;
  };
  if (attributes.loss_scale && together)
    add_update(graph, ops::kUnscaleMultiTensor, all_name, NodeId::none(), with_state(all_gradients),
               attributes);
  if (attributes.loss_scale && !together)
    for (std::size_t i = 0; i < trained.size(); ++i)
      add_update(graph, ops::kUnscale, name_of(i), forward_of(i), with_state({all_gradients[i]}),
                 attributes);
  const Kind kind = kind_of(attributes.kind);
  std::vector<ValueId> all;
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const auto list = operands(graph, trained[i], all_gradients[i], attributes);
    if (together) {
      all.insert(all.end(), list.begin(), list.end());
    } else {
      add_update(graph, *kind.one, name_of(i), forward_of(i), with_state(list), attributes);
    }
  }
  if (together) add_update(graph, *kind.all, all_name, NodeId::none(), with_state(all), attributes);
  if (state.valid())
    add_update(graph, ops::kUpdateScale, "end of step", NodeId::none(), {state}, attributes);
}

ValueId add_optimizer_state(Graph& graph) {
  Value state;
  state.name = kOptimizerState;
  state.shape = {4};
  state.role = Role::kState;
  return graph.add_value(std::move(state));
}

}  // namespace headway::trainer
