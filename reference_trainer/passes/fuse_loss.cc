// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/fuse_loss.h"

#include "reference_trainer/ops/op.h"
#include "reference_trainer/passes/rewrite.h"

namespace headway::trainer {

int fuse_loss(Graph& graph) {
  Rewrite rewrite(graph);
  const std::size_t node_count = graph.node_count();
  for (std::size_t i = 0; i < node_count; ++i) {
    const Node loss = graph.nodes()[i];
    if (loss.op != &ops::kNllLoss) continue;
    const NodeId softmax = rewrite.sole_producer(loss.inputs[0], ops::kLogSoftmax);
    if (!softmax.valid()) continue;
    Node fused = loss;
    fused.op = &ops::kSoftmaxCrossEntropy;
    fused.inputs[0] = graph.node(softmax).inputs[0];
    // The probabilities take the place of the logarithms.
    fused.outputs.push_back(loss.inputs[0]);
    rewrite.replace({softmax, NodeId::from(i)}, std::move(fused));
  }
  return rewrite.apply();
}

}  // namespace headway::trainer
