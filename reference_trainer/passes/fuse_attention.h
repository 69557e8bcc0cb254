// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Rewrites the chain that ops::attention builds (split into heads, q·kᵀ, scale, mask, softmax,
/// p·v, merge; and the two window shifts around them) into one attention op, which keeps the scores
/// in the cache and needs no separate data movement. Runs on a forward graph. Returns the number of
/// rewritten chains.
int fuse_attention(Graph& graph);

}  // namespace headway::trainer
