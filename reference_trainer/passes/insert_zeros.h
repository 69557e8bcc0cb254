// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Rewrites data gradients of strided convolutions in the slow way of libraries without a special
/// kernel: inserts zeros between the output gradients, then runs a convolution without a stride,
/// which costs stride² times as many products. Returns the number of rewritten gradients.
int insert_zeros(Graph& graph);

}  // namespace headway::trainer
