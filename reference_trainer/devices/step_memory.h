// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <vector>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/passes/plan_memory.h"

namespace headway::trainer {

/// Tracks which values of a compiled graph have memory now, where values have it only while a step
/// needs them: all activations under the raw allocator. The device decides what allocating and
/// freeing means.
class StepMemory {
 public:
  StepMemory() = default;  ///< caching allocator: every value keeps its memory
  /// The graph must outlive it.
  StepMemory(const Graph& graph, const CompileOptions& options);

  bool raw() const { return graph_ != nullptr; }
  bool comes_and_goes(ValueId value) const;

  /// To be called before a node: calls `get` for each value that this node is the first to need,
  /// then `get_scratch`. When one of them throws Error, this throws an Error that names the op.
  void begin(NodeId node, const std::function<void(ValueId)>& get,
             const std::function<void()>& get_scratch);
  /// To be called after a node: calls `give_back` for each value that no later node needs.
  void end(NodeId node, const std::function<void(ValueId)>& give_back);
  /// Calls `give_back` for each value that a failed step has left.
  void end_all(const std::function<void(ValueId)>& give_back);

 private:
  const Graph* graph_ = nullptr;
  Lifetimes lifetimes_;
  std::vector<bool> held_;  ///< by value
};

}  // namespace headway::trainer
