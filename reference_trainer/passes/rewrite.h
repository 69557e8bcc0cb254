// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

struct OpDefinition;

/// Collects replacements of nodes by a new node and carries them out together, so that a pass sees
/// the unchanged graph while it decides. The new node takes the place of the first old one: its
/// inputs must exist there.
class Rewrite {
 public:
  explicit Rewrite(Graph& graph) : graph_(graph) {}

  /// The node that makes `value` if it is an `op`, is not yet part of a replacement, and has only
  /// one reader; else none.
  NodeId sole_producer(ValueId value, const OpDefinition& op) const {
    const NodeId producer = graph_.value(value).producer;
    if (!producer.valid() || graph_.node(producer).op != &op || gone_.contains(producer)) return {};
    return graph_.consumers(value).size() == 1 ? producer : NodeId::none();
  }

  /// The node that makes `value` if it is an `op` and not yet part of a replacement, with any
  /// number of readers; else none.
  NodeId producer(ValueId value, const OpDefinition& op) const {
    const NodeId id = graph_.value(value).producer;
    return id.valid() && graph_.node(id).op == &op && !gone_.contains(id) ? id : NodeId::none();
  }

  /// The only node that reads `value`, if it is an `op` and not yet part of a replacement; else
  /// none.
  NodeId sole_reader(ValueId value, const OpDefinition& op) const {
    const std::vector<NodeId> readers = graph_.consumers(value);
    if (readers.size() != 1 || graph_.node(readers[0]).op != &op || gone_.contains(readers[0]))
      return {};
    return readers[0];
  }

  void replace(const std::vector<NodeId>& old, Node replacement) {
    gone_.insert(old.begin(), old.end());
    replacement_.emplace(old.front(), std::move(replacement));
  }

  /// Returns the number of replacements.
  int apply() {
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < graph_.node_count(); ++i) {
      const NodeId id = NodeId::from(i);
      if (auto found = replacement_.find(id); found != replacement_.end()) {
        nodes.push_back(std::move(found->second));
      } else if (!gone_.contains(id)) {
        nodes.push_back(graph_.nodes()[i]);
      }
    }
    graph_.replace_nodes(std::move(nodes));
    return static_cast<int>(replacement_.size());
  }

 private:
  Graph& graph_;
  std::set<NodeId> gone_;
  std::map<NodeId, Node> replacement_;
};

}  // namespace headway::trainer
