// SPDX-License-Identifier: MIT
#include <algorithm>

#include "reference_trainer/ops/op.h"
#include "reference_trainer/passes/fuse_bn_relu.h"
#include "reference_trainer/passes/rewrite.h"

namespace headway::trainer {

int fuse_bn_add_relu(Graph& graph) {
  Rewrite rewrite(graph);
  const std::size_t node_count = graph.node_count();
  for (std::size_t i = 0; i < node_count; ++i) {
    const Node relu = graph.nodes()[i];
    if (relu.op != &ops::kRelu) continue;
    const NodeId add = rewrite.sole_producer(relu.inputs[0], ops::kAdd);
    if (!add.valid()) continue;
    const std::vector<ValueId> operands = graph.node(add).inputs;
    const NodeId first = rewrite.sole_producer(operands[0], ops::kBatchNorm);
    const NodeId second = rewrite.sole_producer(operands[1], ops::kBatchNorm);
    // The other operand must exist when the fused op runs, so the later producer is fused.
    const bool take_second = !first.valid() || (second.valid() && second.value > first.value);
    const NodeId norm = take_second ? second : first;
    if (!norm.valid()) continue;
    const ValueId residual = operands[take_second ? 0 : 1];
    const NodeId residual_producer = graph.value(residual).producer;
    if (residual_producer.valid() && residual_producer.value > norm.value) continue;
    Node fused = graph.node(norm);
    auto& attributes = std::get<BatchNormAttributes>(fused.attributes);
    attributes.epilogue = kernels::Epilogue::kAddRelu;
    fused.op = &ops::kBnAddRelu;
    fused.inputs.push_back(residual);
    fused.outputs[0] = relu.outputs[0];
    if (attributes.training) {
      Value mask;
      mask.name = fused.name + ".mask";
      mask.shape = graph.value(relu.outputs[0]).shape;
      mask.type = DataType::kUint8;
      fused.outputs.push_back(graph.add_value(std::move(mask)));
    }
    rewrite.replace({norm, add, NodeId::from(i)}, std::move(fused));
  }
  return rewrite.apply();
}

}  // namespace headway::trainer
