// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/fuse_elementwise.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/error.h"
#include "reference_trainer/ops/elementwise.h"
#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

/// Limits beyond which intermediates do not fit in the first-level cache.
constexpr std::size_t kMostInstructions = 24;
constexpr std::int64_t kMostColumns = 4096;

using Members = std::set<NodeId>;  // in order of execution

class Clusters {
 public:
  explicit Clusters(const Graph& graph) : graph_(graph), cluster_of_(graph.node_count(), -1) {
    readers_.resize(graph.value_count());
    for (std::size_t i = 0; i < graph.node_count(); ++i)
      for (ValueId input : graph.nodes()[i].inputs)
        readers_[input.value].push_back(NodeId::from(i));
  }

  /// Decides, in order of execution, which cluster each node joins.
  void grow() {
    for (std::size_t i = 0; i < graph_.node_count(); ++i) {
      const NodeId id = NodeId::from(i);
      const Node& node = graph_.node(id);
      if (!fits(node)) continue;
      cluster_of_[i] = static_cast<int>(clusters_.size());
      clusters_.push_back({id});
      for (ValueId input : node.inputs) {
        const NodeId producer = graph_.value(input).producer;
        if (producer.valid() && cluster_of_[producer.value] >= 0)
          try_join(cluster_of_[i], cluster_of_[producer.value], node);
      }
    }
  }

  const std::vector<Members>& all() const { return clusters_; }
  /// Whether some other node, or the host, reads a member's result.
  bool leaves(ValueId value, const Members& members) const {
    if (graph_.value(value).role == Role::kResult) return true;
    return std::ranges::any_of(readers_[value.value],
                               [&](NodeId reader) { return !members.contains(reader); });
  }

 private:
  bool fits(const Node& node) const {
    if (!ops::row_instruction(node) || node.phase == Phase::kUpdate) return false;
    // Filters are cast in their own layout, and batches have several slots: neither is one dense
    // array.
    const bool dense = std::ranges::all_of(node.inputs, [&](ValueId input) {
      return graph_.value(input).role != Role::kInput &&
             !graph_.value(graph_.owner(input)).is_filter;
    });
    return dense && ops::iteration(graph_, node).columns <= kMostColumns;
  }

  /// `into` is the cluster of the last node. A cluster runs at the place of its last node, so no
  /// node outside may read a member's result before.
  void try_join(int into, int other, const Node& last) {
    if (into == other) return;
    Members& mine = clusters_[static_cast<std::size_t>(into)];
    Members& theirs = clusters_[static_cast<std::size_t>(other)];
    const Node& sample = graph_.node(*theirs.begin());
    if (sample.phase != last.phase || mine.size() + theirs.size() > kMostInstructions) return;
    if (!same_iteration(theirs, last) || !same_iteration(mine, sample)) return;
    Members joined = mine;
    joined.insert(theirs.begin(), theirs.end());
    const NodeId end = *joined.rbegin();
    for (NodeId member : joined)
      for (ValueId output : graph_.node(member).outputs)
        for (NodeId reader : readers_[output.value])
          if (reader < end && !joined.contains(reader)) return;
    for (NodeId member : theirs) cluster_of_[member.value] = into;
    theirs.clear();
    mine = std::move(joined);
  }

  /// A node with one value per row iterates over {N, 1}, which is compatible with every {N, C}.
  bool same_iteration(const Members& members, const Node& node) const {
    const ops::RowsAndColumns b = ops::iteration(graph_, node);
    return std::ranges::all_of(members, [&](NodeId member) {
      const ops::RowsAndColumns a = ops::iteration(graph_, graph_.node(member));
      return a == b || (a.rows == b.rows && (a.columns == 1 || b.columns == 1));
    });
  }

  const Graph& graph_;
  std::vector<std::vector<NodeId>> readers_;
  std::vector<int> cluster_of_;
  std::vector<Members> clusters_;
};

/// The program of some nodes over `over`; its outputs are the values that other nodes read.
Node cluster_node(const Graph& graph, const Clusters& clusters, const Members& members) {
  ops::RowsAndColumns over;
  for (NodeId member : members) {
    const ops::RowsAndColumns each = ops::iteration(graph, graph.node(member));
    if (each.rows * each.columns > over.rows * over.columns) over = each;
  }
  const Node& last = graph.node(*members.rbegin());
  Node node = last;
  node.op = &ops::kCluster;
  node.name =
      members.size() == 1 ? last.name : fmt::format("{} (+{})", last.name, members.size() - 1);
  node.inputs.clear();
  node.outputs.clear();
  node.results = kernels::NumberFormat::kFloat32;  // the program rounds
  kernels::RowProgram program;
  program.rows = over.rows;
  program.columns = over.columns;
  std::map<ValueId, int> number;  // number of a value in the program
  for (NodeId member : members)
    for (ValueId input : graph.node(member).inputs)
      if (!members.contains(graph.value(input).producer) && !number.contains(input)) {
        number[input] = static_cast<int>(node.inputs.size());
        node.inputs.push_back(input);
        program.inputs.push_back(ops::row_kind(graph, input, over));
      }
  for (NodeId member : members) {
    const Node& each = graph.node(member);
    kernels::RowInstruction by = *ops::row_instruction(each);
    by.a = number.at(each.inputs[0]);
    if (each.inputs.size() > 1) by.b = number.at(each.inputs[1]);
    const ValueId result = each.outputs[0];
    auto append = [&](const kernels::RowInstruction& instruction) {
      number[result] = static_cast<int>(program.inputs.size() + program.instructions.size());
      program.instructions.push_back(instruction);
    };
    append(by);
    if (each.results != kernels::NumberFormat::kFloat32)
      append({kernels::RowOp::kRound, number[result], -1, 0, 0, each.results});
    if (!clusters.leaves(result, members)) continue;
    program.outputs.push_back(number[result]);
    node.outputs.push_back(result);
  }
  node.attributes = std::move(program);
  return node;
}

}  // namespace

int fuse_elementwise(Graph& graph) {
  Clusters clusters(graph);
  clusters.grow();
  std::map<NodeId, Node> replacement;  // by the last member, whose place it takes
  std::set<NodeId> gone;
  for (const Members& members : clusters.all()) {
    if (members.size() < 2) continue;
    replacement.emplace(*members.rbegin(), cluster_node(graph, clusters, members));
    gone.insert(members.begin(), members.end());
  }
  std::vector<Node> nodes;
  std::vector<NodeId> moved(graph.node_count());  // new place of each old node
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const NodeId id = NodeId::from(i);
    if (auto found = replacement.find(id); found != replacement.end()) {
      moved[i] = NodeId::from(nodes.size());
      nodes.push_back(std::move(found->second));
    } else if (!gone.contains(id)) {
      moved[i] = NodeId::from(nodes.size());
      nodes.push_back(graph.nodes()[i]);
    }
  }
  for (const Members& members : clusters.all())
    for (NodeId member : members)
      if (members.size() > 1) moved[member.value] = moved[members.rbegin()->value];
  for (Node& node : nodes)
    if (node.forward.valid()) node.forward = moved[node.forward.value];
  graph.replace_nodes(std::move(nodes));
  return static_cast<int>(replacement.size());
}

}  // namespace headway::trainer
