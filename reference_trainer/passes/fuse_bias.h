// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Rewrites bias_add -> gelu into bias_gelu where no other node reads the sum. Saves, per element,
/// one write and one read in each pass. Runs on a forward graph. Returns the number of rewritten
/// pairs.
int fuse_bias_gelu(Graph& graph);

/// Rewrites matmul -> bias_add into one op `into` where no other node reads the product. The op
/// keeps the product's attributes, unless `attributes` are given. Runs on a forward graph. Returns
/// the number of rewritten pairs.
int fuse_bias_into_product(Graph& graph, const OpDefinition& into,
                           const std::optional<Attributes>& attributes = {});

/// Rewrites matmul -> bias_add into linear, whose product adds the bias as it writes the result.
/// Runs after fuse_bias_gelu, on a forward graph. Returns the number of rewritten pairs.
int fuse_linear_bias(Graph& graph);

}  // namespace headway::trainer
