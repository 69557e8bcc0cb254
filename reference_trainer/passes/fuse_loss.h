// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Rewrites log_softmax -> nll_loss into softmax_cross_entropy, whose gradient needs one pass over
/// the logits instead of three. Runs on a forward graph. Returns how many it fused.
int fuse_loss(Graph& graph);

}  // namespace headway::trainer
