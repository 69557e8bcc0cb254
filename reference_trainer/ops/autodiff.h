// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

struct OpDefinition;

/// Adds to a forward graph the ops that compute its gradients, in one backward walk. Each op's
/// `differentiate` asks for the gradient of its result and adds the gradients of its inputs. Where
/// a value is used twice, an `add` op sums both gradients.
class Gradients {
 public:
  explicit Gradients(Graph& graph) : graph_(graph) {}

  /// Differentiates `loss` (the result of a loss op). Values that no parameter influences, such as
  /// the images, get no gradient.
  void run(ValueId loss);

  const Graph& graph() const { return graph_; }
  bool needs_gradient(ValueId value) const;
  /// The gradient so far; none when the value has received none.
  ValueId of(ValueId value) const;

  /// Appends a backward op for the forward node `of`. It has one output for each value in `like`,
  /// with its shape and, for parameters, its layout. Its attributes default to the forward node's.
  /// Returns the outputs.
  std::vector<ValueId> emit(const OpDefinition& op, NodeId of, std::vector<ValueId> inputs,
                            const std::vector<ValueId>& like,
                            std::optional<Attributes> attributes = {});
  /// Adds `gradient` to what `value` has received so far.
  void accumulate(NodeId of, ValueId value, ValueId gradient);

 private:
  Graph& graph_;
  std::map<ValueId, ValueId> gradient_of_;
  std::vector<bool> influenced_;  ///< by value: whether a parameter influences it
};

}  // namespace headway::trainer
