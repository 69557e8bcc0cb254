// SPDX-License-Identifier: MIT
// Images in another memory order, NHWC to NCHW and back: each op is the gradient of the other. No
// arithmetic.
#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work work(const Graph& graph, const Node& node) {
  return {0, operand_bytes(graph, node)};
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId x = node.inputs[0];
  if (!gradients.needs_gradient(x)) return;
  const OpDefinition& back = node.op == &kNhwcToNchw ? kNchwToNhwc : kNhwcToNchw;
  gradients.accumulate(id, x, gradients.emit(back, id, {gradients.of(node.outputs[0])}, {x})[0]);
}

ValueId change(Graph& graph, const OpDefinition& op, const std::string& name, ValueId x) {
  const Shape in = graph.value(x).shape;
  const bool to_first = &op == &kNhwcToNchw;
  require(in.rank() == 4 && graph.value(graph.owner(x)).channels_first != to_first, op, name,
          to_first ? "images as NHWC" : "images as NCHW", in);
  const Shape out =
      to_first ? Shape{in[0], in[3], in[1], in[2]} : Shape{in[0], in[2], in[3], in[1]};
  const std::string order = to_first ? ".nchw" : ".nhwc";
  const ValueId y = add_output(graph, graph.value(x).name + order, out);
  graph.value(y).channels_first = to_first;
  graph.add_node({&op, name, Phase::kForward, NodeId::none(), {x}, {y}, {}});
  return y;
}

}  // namespace

const OpDefinition kNhwcToNchw{"nhwc_to_nchw", "x [N,H,W,C] -> [N,C,H,W]", work, differentiate};
const OpDefinition kNchwToNhwc{"nchw_to_nhwc", "x [N,C,H,W] -> [N,H,W,C]", work, differentiate};

ValueId nhwc_to_nchw(Graph& graph, const std::string& name, ValueId x) {
  return change(graph, kNhwcToNchw, name, x);
}
ValueId nchw_to_nhwc(Graph& graph, const std::string& name, ValueId x) {
  return change(graph, kNchwToNhwc, name, x);
}

}  // namespace headway::trainer::ops
