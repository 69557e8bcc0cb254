// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Rewrites batch_norm -> relu into bn_relu where nothing else reads the normalised value. Runs on
/// a forward graph, before its gradients. Saves, per element, a write and a read forward and three
/// accesses backward. Returns how many it fused.
int fuse_bn_relu(Graph& graph);

/// Rewrites batch_norm -> add -> relu into bn_add_relu where nothing else reads the two values
/// between. When both operands of the add are batch norms (a projection shortcut), the later one is
/// fused. Runs before fuse_bn_relu, on a forward graph. Returns how many it fused.
int fuse_bn_add_relu(Graph& graph);

}  // namespace headway::trainer
