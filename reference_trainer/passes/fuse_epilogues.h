// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Inference graphs: matmul -> bias_add becomes linear_fused, and an add of a residual and a ReLU or GELU behind it or behind a
/// conv2d_fused become part of it, where nothing else reads between them. A residual must be there before the product
/// runs. Returns how many nodes went.
int fuse_epilogues(Graph& graph);

}  // namespace headway::trainer
