// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Values of parameters and running statistics by name, in the order of Shape.
using ParameterSet = std::map<std::string, std::vector<float>>;

/// Rewrites conv2d -> batch_norm of an inference graph into conv2d_fused, where no other node reads
/// the value between them, with
///   w' = w · gamma / sqrt(variance + epsilon),   bias' = beta - mean · gamma / sqrt(variance + epsilon)
/// It adds w' and bias' to `parameters` where these have the values that they are computed from.
/// Returns the number of folded pairs.
int fold_batch_norm(Graph& graph, ParameterSet& parameters);

}  // namespace headway::trainer
