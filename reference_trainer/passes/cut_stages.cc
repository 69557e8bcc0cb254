// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/cut_stages.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

#include "common/error.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

constexpr std::string_view kBlock = "block";

/// The tensor that ops from node `first` on read and ops before it make.
ValueId crossing(const Graph& graph, std::size_t first) {
  std::set<ValueId> values;
  for (std::size_t i = first; i < graph.node_count(); ++i)
    for (ValueId input : graph.nodes()[i].inputs)
      if (const NodeId made = graph.value(input).producer; made.valid() && made.value < first)
        values.insert(input);
  HEADWAY_INVARIANT(values.size() == 1);  // blocks pass on their sum only
  return *values.begin();
}

}  // namespace

int block_of(std::string_view name) {
  int block = -1;
  if (name.starts_with(kBlock))
    std::from_chars(name.data() + kBlock.size(), name.data() + name.size(), block);
  return block;
}

int blocks_for_stages(const Graph& graph, int stages) {
  int blocks = 0;
  for (const Node& node : graph.nodes()) blocks = std::max(blocks, block_of(node.name) + 1);
  if (blocks < stages)
    fail_usage("pipeline: {} blocks cannot be dealt out to {} stages. Use --layers {} or more.",
               blocks, stages, stages);
  return blocks;
}

void cut_stages(Graph& graph, int stages) {
  const int blocks = blocks_for_stages(graph, stages);
  const std::vector<Node> old = graph.nodes();
  std::vector<Node> nodes;
  int reached = 0;
  ValueId from;
  ValueId to;
  for (std::size_t i = 0; i < old.size(); ++i) {
    const int block = block_of(old[i].name);
    if (block >= 0 && stage_of_block(block, blocks, stages) > reached) {
      reached = stage_of_block(block, blocks, stages);
      from = crossing(graph, i);
      Value passed;
      // Outside of all blocks: it is not computed again with one of them.
      passed.name = fmt::format("stage {}", reached);
      passed.shape = graph.value(from).shape;
      to = graph.add_value(std::move(passed));
      nodes.push_back({&ops::kExchange,
                       graph.value(to).name,
                       Phase::kForward,
                       {},
                       {from},
                       {to},
                       ExchangeAttributes{ExchangeKind::kStage}});
    }
    Node node = old[i];
    for (ValueId& input : node.inputs)
      if (from.valid() && input == from) input = to;
    nodes.push_back(std::move(node));
  }
  graph.replace_nodes(std::move(nodes));
}

}  // namespace headway::trainer
