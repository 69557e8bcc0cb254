// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Activation checkpointing: of each block, only the values that other blocks read are kept for the
/// backward pass. It computes the others again with the same ops, right before it reaches the
/// block. The numbers do not change. Run it after the gradients and before the optimizer. Ops with
/// a state (batch normalisation) would count a batch twice, so they are refused with Error (usage).
/// Returns the number of ops that run twice.
int recompute_blocks(Graph& graph);

}  // namespace headway::trainer
