// SPDX-License-Identifier: MIT
// The loss as two ops: log_softmax, then the mean of the labels' log probabilities;
// passes/fuse_loss.h joins them to softmax_cross_entropy.
#include "kernels/softmax/op.h"
#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work softmax_work(const Graph& graph, const Node& node) {
  const Shape& s = graph.value(node.outputs[0]).shape;
  return node.op == &kLogSoftmax ? kernels::softmax_forward_work(s[0], s[1])
                                 : kernels::softmax_backward_work(s[0], s[1]);
}

Work loss_work(const Graph& graph, const Node& node) {
  const Shape& s = graph.value(node.op == &kNllLoss ? node.inputs[0] : node.outputs[0]).shape;
  return node.op == &kNllLoss ? Work{s[0] * s[1], s[0] * (4 * s[1] + 4)}
                              : Work{s[0], s[0] * (4 * s[1] + 4)};
}

void differentiate_log_softmax(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId y = node.outputs[0];
  gradients.accumulate(
      id, node.inputs[0],
      gradients.emit(kLogSoftmaxBackward, id, {y, gradients.of(y)}, {node.inputs[0]})[0]);
}

void differentiate_loss(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId x = node.inputs[0];
  gradients.accumulate(id, x, gradients.emit(kNllLossBackward, id, {node.inputs[1]}, {x})[0]);
}

}  // namespace

const OpDefinition kLogSoftmax{"log_softmax", "logits -> logarithms of the probabilities",
                               softmax_work, differentiate_log_softmax};
const OpDefinition kLogSoftmaxBackward{"log_softmax_backward", "y, dy -> dlogits", softmax_work};
const OpDefinition kNllLoss{"nll_loss", "logarithms of the probabilities, labels -> loss figures",
                            loss_work, differentiate_loss};
const OpDefinition kNllLossBackward{"nll_loss_backward", "labels -> gradient of the logarithms",
                                    loss_work};

ValueId log_softmax(Graph& graph, const std::string& name, ValueId scores) {
  const Shape in = graph.value(scores).shape;
  require(in.rank() == 2, kLogSoftmax, name, "scores [N, classes]", in);
  return add_forward(graph, kLogSoftmax, name, {scores}, in);
}

ValueId cross_entropy(Graph& graph, const std::string& name, ValueId logits, ValueId labels) {
  const Shape in = graph.value(logits).shape;
  require(in.rank() == 2 && graph.value(labels).shape == Shape{in[0]}, kNllLoss, name,
          "logits [N, classes] and labels [N]", in);
  const ValueId y = log_softmax(graph, name + ".log_softmax", logits);
  const ValueId figures = add_forward(graph, kNllLoss, name, {y, labels}, {3});
  graph.value(figures).role = Role::kResult;
  return figures;
}

}  // namespace headway::trainer::ops
