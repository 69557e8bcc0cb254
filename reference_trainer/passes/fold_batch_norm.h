// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Values of parameters and running statistics by their name, in the order of Shape.
using ParameterSet = std::map<std::string, std::vector<float>>;

/// Rewrites conv2d -> batch_norm of an inference graph into conv2d_fused, where nothing else reads between them:
///   w' = w · gamma / sqrt(variance + epsilon),   bias' = beta - mean · gamma / sqrt(variance + epsilon)
/// and adds w' and bias' to `parameters` where those hold what they are made of. Returns how many it folded.
int fold_batch_norm(Graph& graph, ParameterSet& parameters);

}  // namespace headway::trainer
