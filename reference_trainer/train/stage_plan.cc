// SPDX-License-Identifier: MIT
#include "reference_trainer/train/stage_plan.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "common/error.h"

namespace headway::trainer {
namespace {

constexpr std::string_view kBlock = "block";

/// 3 for "block3.qkv"; -1 for a name outside of blocks.
int block_of(std::string_view name) {
  int block = -1;
  if (name.starts_with(kBlock))
    std::from_chars(name.data() + kBlock.size(), name.data() + name.size(), block);
  return block;
}

/// The stage of each node; -1: all stages.
std::vector<int> stages_of_nodes(const Graph& graph, int stages) {
  int blocks = 0;
  for (const Node& node : graph.nodes()) blocks = std::max(blocks, block_of(node.name) + 1);
  if (blocks < stages)
    fail_usage("pipeline: {} blocks cannot be dealt out to {} stages. Use --layers {} or more.",
               blocks, stages, stages);
  std::vector<int> result(graph.node_count(), -1);
  int reached = 0;
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& node = graph.nodes()[i];
    if (node.phase == Phase::kForward) {
      const int block = block_of(node.name);
      if (block >= 0) reached = std::max(reached, block * stages / blocks);
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

}  // namespace

ModelShare StagePlan::share() const {
  return {[work = work](NodeId node) { return work[node.value]; },
          [memory = memory](ValueId value) { return memory[value.value]; }};
}

StagePlan plan_stage(const Graph& graph, int stage, int stages, int under_way) {
  const std::vector<int> stage_of = stages_of_nodes(graph, stages);
  StagePlan plan{stage, stages, {}, {}, {}, 0, 0, false};
  // A parameter belongs to the stage of the first op that reads it.
  std::vector<int> of_value(graph.value_count(), -1);
  std::set<ValueId> kept;  // activations that the backward pass reads
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& node = graph.nodes()[i];
    for (ValueId input : node.inputs) {
      if (graph.value(input).role == Role::kParameter && of_value[input.value] < 0)
        of_value[input.value] = stage_of[i];
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
    if (of_value[parameter.value] == stage) own += bytes;
  }
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    plan.runs.push_back(stage_of[i] == stage || stage_of[i] < 0);
    plan.work.push_back(stage_of[i] < 0 && all > 0 ? own / all : 1);
  }
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const ValueId id = ValueId::from(i);
    const ValueId owner = graph.owner(id);
    const NodeId made = graph.value(id).producer;
    double share = 1;
    if (graph.value(owner).role == Role::kParameter)
      share = of_value[owner.value] == stage ? 1 : 0;
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
