// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <vector>

#include "reference_trainer/passes/fold_batch_norm.h"

namespace headway::trainer {

/// By value: the largest magnitude that INT8 represents without clipping.
using Ranges = std::map<ValueId, float>;

/// Turns all products that quantisation applies to into fused products: conv2d, matmul and linear
/// nodes; those without a bias get a bias of zero. Products that quantise() then skips stay fused.
void fuse_products(Graph& graph, ParameterSet& parameters);

/// Values whose ranges quantise() needs: operands and residuals of products.
std::vector<ValueId> quantised_values(const Graph& graph);

/// Gives the fused products of an inference graph 8-bit operands. Weights have a scale for each
/// output channel (their largest magnitude over 127, or over `most_weight`), activations have one
/// scale (their range over 127). Both are symmetric, as tensor cores need. A value that only such
/// products read leaves its product as integers. Other values get a `quantise` node, which pads
/// channels to a multiple of 4. Products whose outputs are not a multiple of 4 stay unchanged,
/// because no library has them. The integers are added to `parameters`. Where ranges or parameters
/// are unknown (a device that does not compute), scales are 1. Returns the number of changed
/// products.
int quantise(Graph& graph, const Ranges& ranges, ParameterSet& parameters, int most_weight = 127);

}  // namespace headway::trainer
