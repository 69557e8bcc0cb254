// SPDX-License-Identifier: MIT
#include "kernels/softmax_cross_entropy/op.h"

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

kernels::SoftmaxCrossEntropyShape shape_of(const Graph& graph, ValueId logits) {
  const Shape& shape = graph.value(logits).shape;
  return {shape[0], static_cast<int>(shape[1])};
}

Work forward_work(const Graph& graph, const Node& node) {
  return kernels::softmax_cross_entropy_forward_work(shape_of(graph, node.inputs[0]));
}
Work backward_work(const Graph& graph, const Node& node) {
  return kernels::softmax_cross_entropy_backward_work(shape_of(graph, node.inputs[0]));
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId logits = node.inputs[0];
  gradients.accumulate(id, logits,
                       gradients.emit(kSoftmaxCrossEntropyBackward, id,
                                      {node.outputs[1], node.inputs[1]}, {logits})[0]);
}

}  // namespace

const OpDefinition kSoftmaxCrossEntropy{"softmax_cross_entropy",
                                        "logits, labels -> loss figures, probabilities",
                                        forward_work, differentiate};
const OpDefinition kSoftmaxCrossEntropyBackward{"softmax_cross_entropy_backward",
                                                "probabilities, labels -> dlogits", backward_work};

ValueId softmax_cross_entropy(Graph& graph, const std::string& name, ValueId logits,
                              ValueId labels) {
  const Shape in = graph.value(logits).shape;
  require(in.rank() == 2 && graph.value(labels).shape == Shape{in[0]}, kSoftmaxCrossEntropy, name,
          "logits [N, classes] and labels [N]", in);
  const ValueId figures = add_output(graph, name, {3});
  graph.value(figures).role = Role::kResult;
  const ValueId probabilities = add_output(graph, name + ".probabilities", in);
  graph.add_node({&kSoftmaxCrossEntropy,
                  name,
                  Phase::kForward,
                  NodeId::none(),
                  {logits, labels},
                  {figures, probabilities},
                  {}});
  return figures;
}

}  // namespace headway::trainer::ops
