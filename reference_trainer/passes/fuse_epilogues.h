// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// For inference graphs: turns matmul -> bias_add into linear_fused. Adds to it, or to a
/// conv2d_fused, a following add of a residual and a following ReLU or GELU, where no other node
/// reads the values between. The residual must be available before the product runs. Returns the
/// number of removed nodes.
int fuse_epilogues(Graph& graph);

}  // namespace headway::trainer
