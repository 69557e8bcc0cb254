// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/graph/graph.h"
#include "reference_trainer/nvtx/emitter.h"

namespace headway::trainer {

struct ExecutorOptions {
  std::chrono::nanoseconds launch_cost{0};  ///< emulated framework time per launch
  std::int64_t sync_every = 0;              ///< wait for the stream after every n-th op; 0: never
  /// Launch a phase's kernels together from the second time on, where the device can (Device::join).
  bool join_launches = false;
  std::vector<bool> runs = {};  ///< by node: whether it is launched; empty: all are
};

/// What else is launched beside a phase's ops.
struct OpHooks {
  std::function<void(NodeId)> before = {};  ///< before the op's range opens
  std::function<void(NodeId)> after = {};   ///< after its launches, inside its range
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
  /// Copies the operands to the host, computes, copies the results back. Blocks for the first copies.
  void run_on_processor(NodeId node, const LaunchArguments& arguments);

  /// The kernels of a phase as one; null while they are launched one by one.
  const Kernel* joined(Phase phase, const LaunchArguments& arguments);

  Device& device_;
  const StreamId stream_;
  const Graph& graph_;
  CompiledGraph& compiled_;
  const ExecutorOptions options_;
  std::map<NodeId, RoundTrip> round_trips_;
  std::array<std::vector<Op>, 8> ops_of_phase_;
  std::map<std::pair<Phase, int>, std::unique_ptr<Kernel>> joined_;  // by slot; null: run once
  std::int64_t ops_since_sync_ = 0;
};

/// Publishes every node (of those in `runs`, where it is not empty) as a headway.graph_op mark, node i as op first_op_id + i.
void publish_graph(const Graph& graph, std::int64_t first_op_id,
                   const std::vector<bool>& runs = {});

}  // namespace headway::trainer
