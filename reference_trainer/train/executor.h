// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/graph/graph.h"
#include "reference_trainer/nvtx/emitter.h"

namespace headway::trainer {

struct ExecutorOptions {
  std::chrono::nanoseconds launch_cost{0};  ///< emulated framework time per launch
  std::int64_t sync_every = 0;              ///< wait for the stream after every n-th op; 0: never
  /// From the second run on, launch a phase's kernels together (Device::join): all of them, or all
  /// between two actions of the host.
  bool join_launches = false;
  std::vector<bool> runs = {};  ///< by node: whether it is launched; empty: all are
};

/// Actions of the caller between a phase's ops.
struct OpHooks {
  std::function<void(NodeId)> before =
      {};  ///< before the op's range opens; for joined ops, before the first
  /// After the op's launches, inside its range; for ops launched together, after the last.
  std::function<void(NodeId)> after = {};
  /// Whether `after` does anything after that op, and `before` before it; empty: for every op.
  std::function<bool(NodeId)> acts = {};
  std::function<bool(NodeId)> acts_before = {};
};

/// The host side of running a graph: walks its ops in order and launches their kernels, as a
/// framework does. Each op is an NVTX range on the calling thread. The graph must outlive it.
class Executor {
 public:
  Executor(Device& device, StreamId stream, const Graph& graph, CompiledGraph& compiled,
           std::int64_t first_op_id, const ExecutorOptions& options);

  /// Launches all ops of a phase.
  void run(Phase phase, const LaunchArguments& arguments, const OpHooks& hooks = {});

 private:
  struct Op {
    NodeId node;
    nvtx::Name name;
    conventions::RangePayload payload;
  };
  /// Host memory for the operands of an op that the processor runs.
  struct RoundTrip {
    std::vector<Memory> inputs;
    std::vector<Memory> outputs;
  };

  void prepare_round_trip(NodeId node);
  /// Copies the operands to the host, computes, and copies the results back. Blocks for the first
  /// copies.
  void run_on_processor(NodeId node, const LaunchArguments& arguments);

  /// Ops that are launched together: one op with its kernels, or several ops with one call.
  struct Piece {
    NodeId first;
    NodeId last;
    std::vector<const Kernel*> kernels = {};
    std::unique_ptr<Kernel> joined = nullptr;
    bool on_processor = false;
  };
  using Pieces = std::vector<Piece>;
  /// The ops of a phase in pieces; null while they are launched one by one.
  const Pieces* pieces(Phase phase, const LaunchArguments& arguments, const OpHooks& hooks);
  Pieces cut(Phase phase, const OpHooks& hooks) const;
  void run(const Pieces& pieces, const LaunchArguments& arguments, const OpHooks& hooks);

  Device& device_;
  const StreamId stream_;
  const Graph& graph_;
  CompiledGraph& compiled_;
  const ExecutorOptions options_;
  std::map<NodeId, RoundTrip> round_trips_;
  std::array<std::vector<Op>, 8> ops_of_phase_;
  /// By phase, slot, and whether hooks act before or after ops; empty: the phase has run once.
  std::map<std::tuple<Phase, int, bool, bool>, Pieces> pieces_;
  std::int64_t ops_since_sync_ = 0;
};

/// Publishes every node (with `runs`: only those in it) as a headway.graph_op mark, node i as op
/// first_op_id + i.
void publish_graph(const Graph& graph, std::int64_t first_op_id,
                   const std::vector<bool>& runs = {});

}  // namespace headway::trainer
