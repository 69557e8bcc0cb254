// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// By node: the activations that this node is the first to need, and those that it is the last to
/// need.
struct Lifetimes {
  std::vector<std::vector<ValueId>> first;
  std::vector<std::vector<ValueId>> last;
};
Lifetimes lifetimes(const Graph& graph);

/// The offset of each activation in one block of device memory that they share. Values that are
/// never alive at the same time may overlap, because ops run in order on one stream.
struct MemoryPlan {
  std::vector<std::int64_t> offset;  ///< by value; -1 for values that are no activations
  std::int64_t total_bytes = 0;
};

/// First fit by time of birth. `bytes_of` gives the device's size of a value; offsets are multiples
/// of 64 (a cache line). An output never overlaps an input of the op that makes it.
MemoryPlan plan_memory(const Graph& graph, const std::function<std::int64_t(ValueId)>& bytes_of);

/// Memory that is needed during some stretches of a step, always at the same place.
struct NeededBlock {
  std::int64_t bytes = 0;
  /// First and last op of each stretch.
  std::vector<std::pair<NodeId, NodeId>> needed;
};

/// The offset of each block in the memory that they share. Blocks may overlap if they are never
/// needed at the same op.
struct BlockPlan {
  std::vector<std::int64_t> offset;  ///< by block; multiples of 64
  std::int64_t total_bytes = 0;
};

/// First fit, in the order of `blocks`.
BlockPlan place_blocks(std::span<const NeededBlock> blocks);

}  // namespace headway::trainer
