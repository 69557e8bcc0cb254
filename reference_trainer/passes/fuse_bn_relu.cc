// SPDX-License-Identifier: MIT
#include "reference_trainer/passes/fuse_bn_relu.h"

#include "reference_trainer/ops/op.h"
#include "reference_trainer/passes/rewrite.h"

namespace headway::trainer {

int fuse_bn_relu(Graph& graph) {
  Rewrite rewrite(graph);
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const Node& relu = graph.nodes()[i];
    if (relu.op != &ops::kRelu) continue;
    const NodeId norm = rewrite.sole_producer(relu.inputs[0], ops::kBatchNorm);
    if (!norm.valid()) continue;
    Node fused = graph.node(norm);
    fused.op = &ops::kBnRelu;
    fused.outputs[0] = relu.outputs[0];
    std::get<BatchNormAttributes>(fused.attributes).epilogue = kernels::Epilogue::kRelu;
    rewrite.replace({norm, NodeId::from(i)}, std::move(fused));
  }
  return rewrite.apply();
}

}  // namespace headway::trainer
