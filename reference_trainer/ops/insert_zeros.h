// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/insert_zeros/op.h"
#include "reference_trainer/graph/graph.h"

namespace headway::trainer::ops {

/// The parameters of an insert_zeros node, for images in either order.
kernels::InsertZeros zeros_of(const Graph& graph, const Node& node);

}  // namespace headway::trainer::ops
