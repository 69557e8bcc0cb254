// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// The graph compiler: joins elementwise ops (and reductions along rows) that follow one another,
/// iterate over the same rows and columns and belong to one phase into `cluster` ops, each a
/// program that runs row by row (kernels/row_program/op.h), so that intermediates stay in the
/// first-level cache. Runs on the whole graph, gradients and optimizer included.
/// Returns how many clusters it made.
int fuse_elementwise(Graph& graph);

}  // namespace headway::trainer
