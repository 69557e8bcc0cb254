// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/embedding/op.h"
#include "reference_trainer/graph/graph.h"

namespace headway::trainer::ops {

/// The shape that the kernels of an embedding or its gradient need; `rows`: y or dy.
kernels::EmbeddingShape embedding_shape(const Graph& graph, const Node& node, ValueId tokens,
                                        ValueId table, ValueId rows);

}  // namespace headway::trainer::ops
