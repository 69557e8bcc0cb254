// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

class Gradients;  // graph/autodiff.h

/// What an op is, apart from any device: its name in traces, its cost, its gradient. One per file
/// of ops/ together with the builder functions that add it to a graph; devices/<device>/ops/ run
/// it.
struct OpDefinition {
  std::string_view type;  ///< "conv2d": stable, in traces and reports
  std::string_view doc;   ///< one sentence: inputs -> outputs
  Work (*work)(const Graph& graph, const Node& node) = nullptr;
  /// Adds the ops that compute the gradients of the node's inputs; null: not differentiable.
  void (*differentiate)(Gradients& gradients, NodeId node) = nullptr;
};

/// Every op there is. A device that misses one says so when a graph with it is compiled.
std::span<const OpDefinition* const> all_ops();

namespace ops {

extern const OpDefinition kConv2d, kConv2dBackwardData, kConv2dBackwardWeights;
extern const OpDefinition kBatchNorm, kBnRelu, kBnAddRelu;
extern const OpDefinition kBatchNormBackward, kBnReluBackward, kBnAddReluBackward;
extern const OpDefinition kRelu, kReluBackward;
extern const OpDefinition kAdd;
extern const OpDefinition kPool, kPoolBackward;
extern const OpDefinition kLinear, kLinearBackwardData, kLinearBackwardWeights;
extern const OpDefinition kSoftmaxCrossEntropy, kSoftmaxCrossEntropyBackward;
extern const OpDefinition kSgdMomentum, kSgdMomentumMultiTensor;

// Builders: each appends one forward node called `name` (and the parameters it needs) and returns
// its result. Shapes are checked; a mismatch is an internal error naming the node.

/// x [N,H,W,C] -> [N,H/s,W/s,out]; square kernel, padding kernel/2, no bias.
ValueId conv2d(Graph& graph, const std::string& name, ValueId x, std::int64_t out_channels,
               int kernel, int stride);
/// x [...,C] -> same shape.
ValueId batch_norm(Graph& graph, const std::string& name, ValueId x, bool training);
ValueId relu(Graph& graph, const std::string& name, ValueId x);
ValueId add(Graph& graph, const std::string& name, ValueId a, ValueId b);
/// Mean over all positions: x [N,H,W,C] -> [N,C].
ValueId global_average_pool(Graph& graph, const std::string& name, ValueId x);
/// x [N,in] -> [N,out], with bias.
ValueId linear(Graph& graph, const std::string& name, ValueId x, std::int64_t out_features);
/// logits [N,classes], labels int32 [N] -> figures [3]: mean loss, correct rows, counted rows.
ValueId softmax_cross_entropy(Graph& graph, const std::string& name, ValueId logits,
                              ValueId labels);

}  // namespace ops
}  // namespace headway::trainer
