// SPDX-License-Identifier: MIT
#include "reference_trainer/train/stage_plan.h"

#include <algorithm>
#include <set>

#include "reference_trainer/ops/optimizer.h"
#include "reference_trainer/passes/cut_stages.h"

namespace headway::trainer {
namespace {

/// The stage of each node; -1: all stages.
std::vector<int> stages_of_nodes(const Graph& graph, int stages) {
  const int blocks = blocks_for_stages(graph, stages);
  std::vector<int> result(graph.node_count(), -1);
  int reached = 0;
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.phase == Phase::kForward) {
      const int block = block_of(node.name);
      if (block >= 0) reached = std::max(reached, stage_of_block(block, blocks, stages));
      result[i] = reached;
    } else if (node.forward.valid()) {
      result[i] = result[node.forward.value];
    } else if (node.phase == Phase::kBackward) {
      for (ValueId input : node.inputs)
        if (const NodeId made = graph.value(input).producer; made.valid())
          result[i] = std::max(result[i], result[made.value]);
    }
  }
  return result;
}

bool is_half(kernels::NumberFormat format) {
  return format == kernels::NumberFormat::kFloat16 || format == kernels::NumberFormat::kBfloat16;
}

/// The largest tensor that is made before `stage` and read in its forward pass. Where a layer norm
/// is fused with the sum before it, there are two such tensors, and their sum is sent.
ValueId border(const Graph& graph, const std::vector<int>& stage_of, int stage) {
  ValueId largest;
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.phase != Phase::kForward || stage_of[i] != stage) continue;
    for (ValueId input : node.inputs) {
      const NodeId made = graph.value(input).producer;
      if (!made.valid() || stage_of[made.value] >= stage) continue;
      if (!largest.valid() || graph.value(largest).bytes() < graph.value(input).bytes())
        largest = input;
    }
  }
  return largest;
}

bool is_border(const Node& node) {
  const auto* by = std::get_if<ExchangeAttributes>(&node.attributes);
  return by && by->kind == ExchangeKind::kStage;
}

/// Adds a border between two stages, which belongs to the earlier one, where it is one of this
/// stage's.
void add_border(const Graph& graph, NodeId id, int of_stage, StagePlan& plan) {
  const Node& node = graph.node(id);
  const bool backward = node.phase == Phase::kBackward;
  if (of_stage != plan.stage && of_stage + 1 != plan.stage) return;
  const bool sends = (of_stage == plan.stage) != backward;
  (sends ? plan.sent : plan.received)[backward ? 1 : 0] = {
      id, sends ? node.inputs[0] : node.outputs[0]};
}

}  // namespace

std::vector<bool> StagePlan::described() const {
  std::vector<bool> result = runs;
  for (const auto* borders : {&sent, &received})
    for (const Border& each : *borders)
      if (each.node.valid()) result[each.node.value] = true;
  return result;
}

void keep_own_updates(Graph& graph, const StagePlan& plan) {
  std::vector<Node> nodes = graph.nodes();
  for (Node& node : nodes) {
    if (node.phase != Phase::kUpdate || node.forward.valid()) continue;
    const auto& by = std::get<OptimizerAttributes>(node.attributes);
    const std::size_t each = operands_per_parameter(by);
    std::vector<ValueId> inputs;
    std::size_t i = 0;
    for (; i + each <= node.inputs.size(); i += each)
      if (plan.owner[node.inputs[i].value] == plan.stage)
        inputs.insert(inputs.end(), node.inputs.begin() + static_cast<std::ptrdiff_t>(i),
                      node.inputs.begin() + static_cast<std::ptrdiff_t>(i + each));
    inputs.insert(inputs.end(), node.inputs.begin() + static_cast<std::ptrdiff_t>(i),
                  node.inputs.end());
    node.inputs = std::move(inputs);
  }
  graph.replace_nodes(std::move(nodes));
}

ModelShare StagePlan::share() const {
  return {[work = work](NodeId node) { return work[node.value]; },
          [memory = memory](ValueId value) { return memory[value.value]; }};
}

StagePlan plan_stage(const Graph& graph, int stage, int stages, int under_way) {
  const std::vector<int> stage_of = stages_of_nodes(graph, stages);
  StagePlan plan;
  plan.stage = stage;
  plan.stages = stages;
  plan.under_way = under_way;
  // A parameter belongs to the stage of the first op that reads it.
  plan.owner.assign(graph.value_count(), -1);
  std::set<ValueId> kept;  // activations that the backward pass reads
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& node = graph.nodes()[i];
    for (ValueId input : node.inputs) {
      if (graph.value(input).role == Role::kParameter && plan.owner[input.value] < 0)
        plan.owner[input.value] = stage_of[i];
      const NodeId made = graph.value(input).producer;
      if (node.phase == Phase::kBackward && made.valid() &&
          graph.node(made).phase == Phase::kForward)
        kept.insert(input);
    }
  }
  double all = 0;
  double own = 0;
  for (ValueId parameter : graph.parameters()) {
    const auto bytes = static_cast<double>(graph.value(parameter).bytes());
    all += bytes;
    if (plan.owner[parameter.value] == stage) own += bytes;
  }
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const bool border = is_border(graph.nodes()[i]);
    if (border) add_border(graph, NodeId::from(i), stage_of[i], plan);
    plan.runs.push_back(!border && (stage_of[i] == stage || stage_of[i] < 0));
    plan.work.push_back(stage_of[i] < 0 && all > 0 ? own / all : 1);
  }
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const ValueId id = ValueId::from(i);
    const ValueId owner = graph.owner(id);
    const NodeId made = graph.value(id).producer;
    double share = 1;
    if (graph.value(owner).role == Role::kParameter)
      share = plan.owner[owner.value] == stage ? 1 : 0;
    else if (made.valid())
      share = stage_of[made.value] == stage ? (kept.contains(id) ? under_way : 1) : 0;
    plan.memory.push_back(share);
  }
  auto elements = [&](ValueId value) {
    if (!value.valid()) return std::int64_t{0};
    plan.half = is_half(graph.node(graph.value(value).producer).results);
    return graph.value(value).shape.elements();
  };
  if (stage > 0) plan.received_elements = elements(border(graph, stage_of, stage));
  if (stage + 1 < stages) plan.sent_elements = elements(border(graph, stage_of, stage + 1));
  return plan;
}

}  // namespace headway::trainer
