// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

struct OpDefinition;

/// Grows a forward graph by the ops that compute its gradients, walking it backwards once. Each
/// op's `differentiate` asks for the gradient of its result and adds the gradients of its inputs;
/// where a value was used twice, an `add` op joins the two.
class Gradients {
 public:
  explicit Gradients(Graph& graph) : graph_(graph) {}

  /// Differentiates `loss` (the result of a loss op). Values that no parameter influences, such as
  /// the images, get no gradient.
  void run(ValueId loss);

  const Graph& graph() const { return graph_; }
  bool needs_gradient(ValueId value) const;
  /// The gradient so far; none when nothing reached it.
  ValueId of(ValueId value) const;

  /// Appends a backward op for the forward node `of`; its outputs get the shapes of `like`, one
  /// each, and share the layouts of parameters. Its attributes are the forward node's where none
  /// are given. Returns the outputs.
  std::vector<ValueId> emit(const OpDefinition& op, NodeId of, std::vector<ValueId> inputs,
                            const std::vector<ValueId>& like,
                            std::optional<Attributes> attributes = {});
  /// Adds `gradient` to what `value` has received so far.
  void accumulate(NodeId of, ValueId value, ValueId gradient);

 private:
  Graph& graph_;
  std::map<ValueId, ValueId> gradient_of_;
  std::vector<bool> influenced_;  ///< by value: a parameter influences it
};

}  // namespace headway::trainer
