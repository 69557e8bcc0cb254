// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// The graph compiler: joins consecutive elementwise ops (and reductions along rows) that iterate
/// over the same rows and columns and belong to one phase. Each resulting `cluster` op is a program
/// that runs row by row (kernels/row_program/op.h), so that intermediates stay in the first-level
/// cache. Runs on the whole graph, gradients and optimizer included. Returns the number of
/// clusters.
int fuse_elementwise(Graph& graph);

}  // namespace headway::trainer
