// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <vector>

#include "reference_trainer/passes/fold_batch_norm.h"

namespace headway::trainer {

/// Largest size that INT8 keeps apart, by value.
using Ranges = std::map<ValueId, float>;

/// Makes fused products of all that quantisation is for: conv2d, matmul and linear nodes get a bias of zero where they have none.
/// What quantise() then leaves stays as it is.
void fuse_products(Graph& graph, ParameterSet& parameters);

/// Values whose range quantise() wants to know: what products read, as operand or residual.
std::vector<ValueId> quantised_values(const Graph& graph);

/// Gives the fused products of an inference graph operands of 8 bits: weights with a scale for each output channel (their largest
/// over 127, or over `most_weight`), activations with one each (their range over 127; both symmetric, as tensor cores have it). A value that only such products
/// read comes from its product as integers; others get a `quantise` node, which pads channels to a multiple of 4. Products whose
/// outputs are no multiple of 4 stay: no library has them. `parameters` gets the integers. Where ranges or parameters are not
/// known (a device that computes nothing), scales are 1. Returns how many products it changed.
int quantise(Graph& graph, const Ranges& ranges, ParameterSet& parameters, int most_weight = 127);

}  // namespace headway::trainer
