// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// What crosses a border between two stages (passes/cut_stages.h).
struct Border {
  NodeId node;    ///< the exchange, which no stage runs
  ValueId value;  ///< the tensor on this stage's side
};

/// The part of a model that one stage of a pipeline has. Blocks are distributed in order, as evenly
/// as possible; the ops before the blocks are on the first stage, the ops after them on the last.
struct StagePlan {
  int stage = 0;
  int stages = 1;
  int under_way = 1;       ///< micro batches whose activations the stage keeps at once
  std::vector<bool> runs;  ///< by node: launched on this stage
  std::vector<double>
      work;  ///< by node: share of its work, where all stages launch it (update of all parameters)
  std::vector<double>
      memory;  ///< by value: share of its memory; activations count once per micro batch under way
  std::vector<int> owner;  ///< by value: the stage of a parameter; -1: no parameter
  /// Elements of the tensor that goes to the next stage (and comes back as its gradient), and of
  /// that from the previous stage; 0 at the ends.
  std::int64_t sent_elements = 0;
  std::int64_t received_elements = 0;
  bool half = false;  ///< both are in half precision
  /// In a graph with borders, by direction (forward, backward); no node: none at that end.
  std::array<Border, 2> sent;
  std::array<Border, 2> received;

  bool is_last() const { return stage + 1 == stages; }
  ModelShare share() const;
  /// By node: what a trace describes of this stage, its borders included.
  std::vector<bool> described() const;
};

/// `under_way`: the number of micro batches whose activations the stage keeps at once. Throws Error
/// when there are fewer blocks than stages.
StagePlan plan_stage(const Graph& graph, int stage, int stages, int under_way);

/// Removes the parameters of other stages from the updates that change all parameters together.
/// For stages that compute; a simulated stage has a share of the whole update.
void keep_own_updates(Graph& graph, const StagePlan& plan);

}  // namespace headway::trainer
