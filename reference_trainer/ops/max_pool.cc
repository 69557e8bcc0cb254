// SPDX-License-Identifier: MIT
// Max pooling (mathematics in kernels/max_pool/op.h).
#include "kernels/max_pool/op.h"

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work forward_work(const Graph&, const Node& node) {
  return kernels::max_pool_forward_work(std::get<kernels::MaxPoolShape>(node.attributes));
}
Work backward_work(const Graph&, const Node& node) {
  return kernels::max_pool_backward_work(std::get<kernels::MaxPoolShape>(node.attributes));
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  if (!gradients.needs_gradient(node.inputs[0])) return;
  const ValueId dy = gradients.of(node.outputs[0]);
  gradients.accumulate(
      id, node.inputs[0],
      gradients.emit(kMaxPoolBackward, id, {dy, node.outputs[1]}, {node.inputs[0]})[0]);
}

}  // namespace

const OpDefinition kMaxPool{"max_pool", "x -> largest of each window, and its place", forward_work,
                            differentiate};
const OpDefinition kMaxPoolBackward{"max_pool_backward", "dy, places -> dx", backward_work};

ValueId max_pool(Graph& graph, const std::string& name, ValueId x, int kernel, int stride) {
  const Shape in = graph.value(x).shape;
  require(in.rank() == 4, kMaxPool, name, "an input of rank 4 (NHWC)", in);
  const kernels::MaxPoolShape shape{in[0], in[1], in[2], in[3], kernel, stride, kernel / 2};
  const Shape out{in[0], shape.out(in[1]), shape.out(in[2]), in[3]};
  const ValueId y = add_output(graph, name, out);
  const ValueId places = add_output(graph, name + ".places", out);
  graph.value(places).type = DataType::kUint8;
  graph.add_node({&kMaxPool, name, Phase::kForward, NodeId::none(), {x}, {y, places}, shape});
  return y;
}

}  // namespace headway::trainer::ops
