// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Rewrites the eight elementwise ops of a layer normalisation (mean, centre, square, variance,
/// rstd, normalise, scale, shift) into one layer_norm op: two passes over memory instead of about
/// twenty. Runs on a forward graph. Returns how many it fused.
int fuse_layer_norm(Graph& graph);

/// Rewrites add -> layer_norm into add_layer_norm, which also writes the sum, because the residual
/// stream goes on. Runs after fuse_layer_norm, on a forward graph. Returns how many it fused.
int fuse_add_layer_norm(Graph& graph);

}  // namespace headway::trainer
