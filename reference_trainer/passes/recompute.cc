// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/recompute.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "reference_trainer/graph/unit_name.h"

namespace headway::trainer {
namespace {

/// "block3" for a forward op; for a backward op, that of its forward op; empty: none.
std::string block_of(const Graph& graph, const Node& node) {
  return unit_of_name(node.forward.valid() ? graph.node(node.forward).name : node.name);
}

class Recompute {
 public:
  explicit Recompute(Graph& graph) : graph_(graph) {
    for (const Node& node : graph.nodes()) {
      blocks_.push_back(block_of(graph, node));
      for (ValueId input : node.inputs)
        if (node.phase == Phase::kForward) readers_[input].insert(blocks_.back());
    }
  }

  int run() {
    const std::vector<Node> old = graph_.nodes();
    std::vector<NodeId> moved;
    std::set<std::string> done;
    for (std::size_t i = 0; i < old.size(); ++i) {
      Node node = old[i];
      const std::string& block = blocks_[i];
      if (node.phase == Phase::kBackward && !block.empty()) {
        if (done.insert(block).second) add_again(old, block, moved);
        for (ValueId& input : node.inputs)
          if (const auto found = again_.find({block, input}); found != again_.end())
            input = found->second;
      }
      if (node.forward.valid()) node.forward = moved[node.forward.value];
      moved.push_back(NodeId::from(nodes_.size()));
      nodes_.push_back(std::move(node));
    }
    graph_.replace_nodes(std::move(nodes_));
    return count_;
  }

 private:
  /// Whether the block's forward pass makes the value and no other block reads it: the backward
  /// pass computes it again.
  bool is_inner(const std::vector<Node>& old, ValueId value, const std::string& block) const {
    const NodeId made = graph_.value(value).producer;
    if (!made.valid() || old[made.value].phase != Phase::kForward || blocks_[made.value] != block)
      return false;
    const auto readers = readers_.find(value);
    return readers == readers_.end() ||
           (readers->second.size() == 1 && readers->second.contains(block));
  }

  void add_again(const std::vector<Node>& old, const std::string& block,
                 const std::vector<NodeId>& moved) {
    std::set<std::size_t> needed;  // ops, in order
    std::vector<ValueId> wanted;
    for (std::size_t i = 0; i < old.size(); ++i)
      if (old[i].phase == Phase::kBackward && blocks_[i] == block)
        wanted.insert(wanted.end(), old[i].inputs.begin(), old[i].inputs.end());
    while (!wanted.empty()) {
      const ValueId value = wanted.back();
      wanted.pop_back();
      if (!is_inner(old, value, block)) continue;
      const std::size_t made = graph_.value(value).producer.value;
      if (!needed.insert(made).second) continue;
      wanted.insert(wanted.end(), old[made].inputs.begin(), old[made].inputs.end());
    }
    for (std::size_t i : needed) {
      Node again = old[i];
      for (ValueId& input : again.inputs) {
        if (graph_.value(input).role == Role::kState)
          fail_usage(
              "recompute: op '{}' keeps a state, which a second run would change again. Use "
              "--recompute off.",
              again.name);
        if (const auto found = again_.find({block, input}); found != again_.end())
          input = found->second;
      }
      for (ValueId& output : again.outputs) {
        Value copy = graph_.value(output);
        copy.name += " again";
        if (const auto found = again_.find({block, copy.like}); found != again_.end())
          copy.like = found->second;
        const ValueId id = graph_.add_value(std::move(copy));
        again_[{block, output}] = id;
        output = id;
      }
      again.phase = Phase::kBackward;
      again.forward = moved[i];
      nodes_.push_back(std::move(again));
      ++count_;
    }
  }

  Graph& graph_;
  std::vector<std::string> blocks_;                   ///< by node
  std::map<ValueId, std::set<std::string>> readers_;  ///< blocks whose forward pass reads it
  std::map<std::pair<std::string, ValueId>, ValueId> again_;  ///< by block: the recomputed value
  std::vector<Node> nodes_;
  int count_ = 0;
};

}  // namespace

int recompute_blocks(Graph& graph) {
  return Recompute(graph).run();
}

}  // namespace headway::trainer
