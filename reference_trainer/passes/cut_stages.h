// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// The number of blocks of a graph ("block3.qkv" is an op of block 3). Throws Error (usage) where
/// there are fewer than `stages`.
int blocks_for_stages(const Graph& graph, int stages);
/// 3 for "block3.qkv"; -1 for a name outside of blocks.
int block_of(std::string_view name);
/// The stage of a block: stages get blocks in order, as evenly as possible.
constexpr int stage_of_block(int block, int blocks, int stages) {
  return block * stages / blocks;
}

/// Cuts a forward graph between the blocks of two stages: the tensor that passes from one stage to
/// the next goes through an exchange (ExchangeKind::kStage), the last op of its stage. No other
/// pass joins ops of two stages then. What is computed does not change. Throws Error (usage) where
/// there are fewer blocks than stages.
void cut_stages(Graph& graph, int stages);

}  // namespace headway::trainer
