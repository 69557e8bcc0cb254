// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

class Gradients;  // ops/autodiff.h

/// How the processor runs an op whose node says so (Node::on_processor).
struct ProcessorForm {
  /// Operands and results in host memory, in the node's order.
  void (*run)(const Node& node, std::span<void* const> inputs, std::span<void* const> outputs);
  double ns_per_element = 0;  ///< per element of the first operand: its cost on a simulated device
};

/// The device-independent definition of an op: its name in traces, its cost, its gradient. Each is
/// in its own file of ops/, together with the builder functions that add it to a graph;
/// devices/<device>/ops/ run it.
struct OpDefinition {
  std::string_view type;  ///< "conv2d": stable, in traces and reports
  std::string_view doc;   ///< one sentence: inputs -> outputs
  Work (*work)(const Graph& graph, const Node& node) = nullptr;
  /// Adds the ops that compute the gradients of the node's inputs; null: not differentiable.
  void (*differentiate)(Gradients& gradients, NodeId node) = nullptr;
  /// null: only the device can run it
  const ProcessorForm* on_processor = nullptr;
};

}  // namespace headway::trainer
