// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reference_trainer/comm/communicator.h"
#include "reference_trainer/devices/device.h"
#include "reference_trainer/graph/graph.h"
#include "reference_trainer/nvtx/emitter.h"

namespace headway::trainer {

struct ShardOptions {
  bool prefetch = true;  ///< ask for a unit's parameters when the unit before it begins
  ElementType type = ElementType::kFloat;  ///< what parameters and gradients are exchanged as
};

/// Parameters of which each rank keeps only its share, as in PyTorch's FSDP and DeepSpeed's ZeRO-3.
/// A unit is a block of the model; the root unit has the parameters that belong to no block. A unit
/// is gathered from all ranks before its forward pass and again before its backward pass, and freed
/// after each; the root unit stays gathered for the step. When a unit's gradients are complete,
/// they are reduce-scattered, so that each rank has the sum of its share. All collectives use one
/// stream, in the order in which the host enqueues them.
class ParameterShards {
 public:
  /// (parameter, gradient) of the graph.
  using Pairs = std::vector<std::pair<ValueId, ValueId>>;
  /// The communicator must outlive it.
  ParameterShards(Device& device, StreamId compute, const Graph& graph, const Pairs& gradients,
                  Communicator& communicator, const ShardOptions& options);

  /// Waits for the device, because enqueued work uses the buffers.
  ~ParameterShards() { buffers_.clear(); }
  ParameterShards(const ParameterShards&) = delete;
  ParameterShards& operator=(const ParameterShards&) = delete;

  /// To be called before and after the launches of each op of the forward or backward pass.
  void before(NodeId node, std::int64_t batch);
  void after(NodeId node, std::int64_t batch);
  /// Whether `before` and `after` do anything at this op.
  bool acts_before(NodeId node) const { return visit_at_.contains(node); }
  bool acts_after(NodeId node) const { return gradient_at_.contains(node); }
  /// To be called after the backward pass: makes the update wait for all gradients.
  void backward_launched();

  std::size_t units() const { return units_.size(); }

 private:
  struct Unit {
    std::string name;
    std::int64_t elements = 0;
    NodeId last_gradient = {};  ///< the op that makes the last of its gradients
    nvtx::Name gather_name = nullptr;
    nvtx::Name reduce_name = nullptr;
    std::unique_ptr<PreparedCollective> gather = nullptr;
    std::unique_ptr<PreparedCollective> reduce = nullptr;
  };
  /// Consecutive ops that use one unit's parameters.
  struct Visit {
    std::size_t unit = 0;
    NodeId first;
    bool gathers = false;
  };

  void find_visits(const Graph& graph, const std::map<ValueId, std::size_t>& unit_of);
  void gather(std::size_t visit, std::int64_t batch);
  void enqueue(nvtx::Name name, const PreparedCollective& what, std::int64_t bytes,
               std::int64_t batch);
  std::int64_t bytes(const Unit& unit) const;

  Device& device_;
  const StreamId compute_;
  Communicator& communicator_;
  const ShardOptions options_;
  StreamId stream_;
  std::vector<Unit> units_;  ///< the root first
  std::vector<Visit> visits_;
  std::map<NodeId, std::size_t> visit_at_;     ///< by the first op of the visit
  std::map<NodeId, std::size_t> gradient_at_;  ///< the unit, by the op of its last gradient
  std::vector<Memory> buffers_;                ///< for two gathered units besides the root
  std::vector<Event> gathered_;                ///< by visit, of this step
  std::size_t next_ = 0;                       ///< the first visit whose unit has not been gathered
};

}  // namespace headway::trainer
