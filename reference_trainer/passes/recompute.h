// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Activation checkpointing: of each block only what other blocks read is kept for the backward pass, which makes the rest
/// again, by the same ops, right before it goes through the block. Numbers stay the same. Runs after the gradients and before
/// the optimizer; ops with a state (batch normalisation) would count a batch twice and are refused with Error (usage). Returns
/// the number of ops that run twice.
int recompute_blocks(Graph& graph);

}  // namespace headway::trainer
