// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Rewrites bias_add -> gelu into bias_gelu where nothing else reads the sum: per element a write
/// and a read less each way. Runs on a forward graph. Returns how many it fused.
int fuse_bias_gelu(Graph& graph);

/// Rewrites matmul -> bias_add into one op of this kind where nothing else reads the product; it keeps the product's attributes,
/// unless others are given. Runs on a forward graph. Returns how many it fused.
int fuse_bias_into_product(Graph& graph, const OpDefinition& into,
                           const std::optional<Attributes>& attributes = {});

/// Rewrites matmul -> bias_add into linear, whose product adds the bias as it writes the result.
/// Runs after fuse_bias_gelu, on a forward graph. Returns how many it fused.
int fuse_linear_bias(Graph& graph);

}  // namespace headway::trainer
