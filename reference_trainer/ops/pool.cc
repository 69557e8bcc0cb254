// SPDX-License-Identifier: MIT
// Global average pooling: y[n,c] = mean over h,w of x[n,h,w,c].
#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work work(const Graph& graph, const Node& node) {
  const std::int64_t larger =
      std::max(elements(graph, node.inputs[0]), elements(graph, node.outputs[0]));
  return {larger, operand_bytes(graph, node)};
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId dy = gradients.of(node.outputs[0]);
  gradients.accumulate(id, node.inputs[0],
                       gradients.emit(kPoolBackward, id, {dy}, {node.inputs[0]})[0]);
}

}  // namespace

const OpDefinition kPool{"pool", "x -> mean over positions", work, differentiate};
const OpDefinition kPoolBackward{"pool_backward", "dy -> dx", work};

ValueId global_average_pool(Graph& graph, const std::string& name, ValueId x) {
  const Shape in = graph.value(x).shape;
  require(in.rank() == 4, kPool, name, "an input of rank 4 (NHWC)", in);
  return add_forward(graph, kPool, name, {x}, {in[0], in[3]});
}

}  // namespace headway::trainer::ops
