// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <vector>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/passes/plan_memory.h"

namespace headway::trainer {

/// Which values of a compiled graph have memory just now, where they have it only while a step needs them: all
/// activations under the raw allocator. What getting memory and giving it back means is the device's matter.
class StepMemory {
 public:
  StepMemory() = default;  ///< the caching allocator: no value comes and goes
  /// The graph must outlive it.
  StepMemory(const Graph& graph, const CompileOptions& options);

  bool raw() const { return graph_ != nullptr; }
  bool comes_and_goes(ValueId value) const;

  /// Before a node: `get` is called for each value that it is the first to need, then `get_scratch`. When one of them
  /// throws Error, so does this, naming the op.
  void begin(NodeId node, const std::function<void(ValueId)>& get,
             const std::function<void()>& get_scratch);
  /// After a node: `give_back` is called for each value that no later node needs.
  void end(NodeId node, const std::function<void(ValueId)>& give_back);
  /// For each value that a step which failed has left.
  void end_all(const std::function<void(ValueId)>& give_back);

 private:
  const Graph* graph_ = nullptr;
  Lifetimes lifetimes_;
  std::vector<bool> held_;  ///< by value
};

}  // namespace headway::trainer
