// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

class Gradients;  // ops/autodiff.h

/// How an op runs on the processor, where its node says so (Node::on_processor).
struct ProcessorForm {
  /// Operands and results in host memory, in the node's order.
  void (*run)(const Node& node, std::span<void* const> inputs, std::span<void* const> outputs);
  double ns_per_element = 0;  ///< of the first operand: what a simulated device takes it to cost
};

/// What an op is, apart from any device: its name in traces, its cost, its gradient. One per file
/// of ops/ together with the builder functions that add it to a graph; devices/<device>/ops/ run
/// it.
struct OpDefinition {
  std::string_view type;  ///< "conv2d": stable, in traces and reports
  std::string_view doc;   ///< one sentence: inputs -> outputs
  Work (*work)(const Graph& graph, const Node& node) = nullptr;
  /// Adds the ops that compute the gradients of the node's inputs; null: not differentiable.
  void (*differentiate)(Gradients& gradients, NodeId node) = nullptr;
  /// Null: only the device can run it.
  const ProcessorForm* on_processor = nullptr;
};

}  // namespace headway::trainer
