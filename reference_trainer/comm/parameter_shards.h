// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "reference_trainer/comm/communicator.h"
#include "reference_trainer/devices/device.h"
#include "reference_trainer/graph/graph.h"
#include "reference_trainer/graph/parameter_units.h"
#include "reference_trainer/nvtx/emitter.h"

namespace headway::trainer {

struct ShardOptions {
  ElementType type = ElementType::kFloat;  ///< what parameters and gradients are exchanged as
  /// With a loss scale: the last op that checks gradients for overflow, and the flag in device
  /// memory that it sets. A rank checks its part only, so the flags are summed over ranks after it.
  /// None: there is no loss scale, or the device does not compute.
  NodeId last_check = {};
  float* overflow = nullptr;
};

/// Parameters of which each rank keeps only its part, as in PyTorch's FSDP and DeepSpeed's ZeRO-3.
/// A unit (UnitPlan) is gathered from all ranks before its forward pass and again before its
/// backward pass, and given up after each; the root unit stays gathered for the step. When a unit's
/// gradients are complete, they are reduce-scattered, so that each rank has the mean of its part.
/// All collectives use one stream, in the order in which the host enqueues them.
class ParameterShards {
 public:
  /// `compiled`: the graph with CompileOptions::units, or of a device that does not compute. The
  /// plan and the communicator must outlive it.
  ParameterShards(Device& device, StreamId compute, const Graph& graph, const UnitPlan& plan,
                  const CompiledGraph& compiled, Communicator& communicator,
                  const ShardOptions& options);

  /// Waits for the device, because enqueued work uses the buffers.
  ~ParameterShards() { buffers_.clear(); }
  ParameterShards(const ParameterShards&) = delete;
  ParameterShards& operator=(const ParameterShards&) = delete;

  /// To be called before and after the launches of each op.
  void before(NodeId node, std::int64_t batch);
  void after(NodeId node, std::int64_t batch);
  /// Whether `before` and `after` do anything at this op.
  bool acts_before(NodeId node) const;
  bool acts_after(NodeId node) const;
  /// To be called after the backward pass: makes the update wait for all gradients.
  void backward_launched();
  /// Gathers a unit between steps and returns when its parameters are complete. All ranks must call
  /// it for the same units in the same order.
  void gather_now(std::size_t unit);

 private:
  struct Unit {
    std::int64_t elements = 0;
    nvtx::Name gather_name = nullptr;
    nvtx::Name reduce_name = nullptr;
    std::unique_ptr<PreparedCollective> gather = nullptr;
    std::unique_ptr<PreparedCollective> reduce = nullptr;
  };

  void add_unit(const Graph& graph, std::size_t number, const CompiledGraph& compiled);
  void add_buffers();
  void gather(std::size_t unit, std::int64_t batch);
  void enqueue(nvtx::Name name, const PreparedCollective& what, std::int64_t bytes,
               std::int64_t batch);
  std::int64_t bytes(const Unit& unit) const;

  Device& device_;
  const StreamId compute_;
  Communicator& communicator_;
  const UnitPlan& plan_;
  const ShardOptions options_;
  StreamId stream_;
  std::vector<Unit> units_;                            ///< those of the plan
  std::multimap<NodeId, std::size_t> visits_at_;       ///< by first op
  std::multimap<NodeId, std::size_t> requests_at_;     ///< visits, by the op before which they ask
  std::multimap<NodeId, std::size_t> gradients_at_;    ///< units, by the op of their last gradient
  std::unique_ptr<PreparedCollective> sum_overflows_;  ///< null: ShardOptions::last_check is none
  nvtx::Name overflow_name_ = nullptr;
  std::vector<Memory> buffers_;  ///< not computing: for two gathered units besides the root
  std::vector<Event> gathered_;  ///< by visit, of this step
};

}  // namespace headway::trainer
