// SPDX-License-Identifier: MIT
// Softmax, and the loss as one or two ops. Losses are computed in FP32 for any format of the
// logits.
#include "kernels/softmax/launch.h"

#include "kernels/softmax_cross_entropy/launch.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"

namespace headway::trainer::cuda_device {
namespace {

using kernels::SoftmaxCrossEntropyShape;
using kernels::cuda::SoftmaxCrossEntropyArrays;
constexpr NumberFormat kFull = NumberFormat::kFloat32;

SoftmaxCrossEntropyShape shape_of(const CudaGraph& graph, ValueId logits) {
  return {graph.shape(logits)[0], static_cast<int>(graph.shape(logits)[1])};
}

Operand loss_scratch(CudaGraph& graph, NodeId id, SoftmaxCrossEntropyShape shape) {
  return graph.scratch(id, 4 * kernels::cuda::softmax_cross_entropy_scratch_floats(shape));
}

/// The optimizer's state with the loss scale, if the node has it; else none.
Operand state_of(const CudaGraph& graph, NodeId id, std::size_t operand) {
  const Node& node = graph.node(id);
  return node.inputs.size() > operand ? graph.operand(node.inputs[operand]) : Operand();
}

using Forward = Launch (*)(const kernels::cuda::Limits&, NumberFormat, std::int64_t, std::int64_t,
                           const void*, void*);
using Backward = Launch (*)(const kernels::cuda::Limits&, NumberFormat, std::int64_t, std::int64_t,
                            const void*, const void*, void*);

void add_forward(CudaGraph& graph, NodeId id, Forward run) {
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand x = graph.input(id, node.inputs[0], format);
  const Shape s = graph.shape(node.outputs[0]);
  graph.add_launches(id, [=, &graph, y = graph.operand(node.outputs[0])](int slot) -> Launches {
    return {run(graph.limits(), format, s[0], s[1], x.at(slot), y.at())};
  });
}

void add_backward(CudaGraph& graph, NodeId id, Backward run) {
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand y = graph.input(id, node.inputs[0], format);
  const Operand dy = graph.input(id, node.inputs[1], format);
  const Shape s = graph.shape(node.outputs[0]);
  graph.add_launches(id, [=, &graph, dx = graph.operand(node.outputs[0])](int) -> Launches {
    return {run(graph.limits(), format, s[0], s[1], y.at(), dy.at(), dx.at())};
  });
}

}  // namespace

void add_softmax(CudaGraph& graph, NodeId id) {
  add_forward(graph, id, kernels::cuda::softmax_forward);
}

void add_softmax_backward(CudaGraph& graph, NodeId id) {
  add_backward(graph, id, kernels::cuda::softmax_backward);
}

void add_log_softmax(CudaGraph& graph, NodeId id) {
  add_forward(graph, id, kernels::cuda::log_softmax_forward);
}

void add_log_softmax_backward(CudaGraph& graph, NodeId id) {
  add_backward(graph, id, kernels::cuda::log_softmax_backward);
}

void add_softmax_cross_entropy(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto shape = shape_of(graph, node.inputs[0]);
  const Operand logits = graph.input(id, node.inputs[0], kFull);
  const Operand probabilities = graph.output(id, node.outputs[1], kFull);
  const Operand scratch = loss_scratch(graph, id, shape);
  graph.add_launches(id, [=, &graph, &node](int slot) {
    SoftmaxCrossEntropyArrays arrays;
    arrays.logits = logits.at();
    arrays.labels = graph.address<std::int32_t>(node.inputs[1], slot);
    arrays.probabilities = probabilities.at();
    arrays.figures = graph.address<kernels::LossFigures>(node.outputs[0]);
    arrays.scratch = scratch.at<float>();
    return kernels::cuda::softmax_cross_entropy(graph.limits(), kFull, shape, arrays);
  });
}

void add_softmax_cross_entropy_backward(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto shape = shape_of(graph, node.outputs[0]);
  const Operand probabilities = graph.input(id, node.inputs[0], kFull);
  const Operand dlogits = graph.output(id, node.outputs[0], kFull);
  const Operand scratch = loss_scratch(graph, id, shape);
  const Operand state = state_of(graph, id, 2);
  graph.add_launches(id, [=, &graph, &node](int slot) {
    SoftmaxCrossEntropyArrays arrays;
    arrays.probabilities = probabilities.at();
    arrays.labels = graph.address<std::int32_t>(node.inputs[1], slot);
    arrays.dlogits = dlogits.at();
    arrays.state = state.at<float>();
    arrays.scratch = scratch.at<float>();
    return kernels::cuda::softmax_cross_entropy_backward(graph.limits(), kFull, shape, arrays);
  });
}

void add_nll_loss(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto shape = shape_of(graph, node.inputs[0]);
  const Operand logarithms = graph.input(id, node.inputs[0], kFull);
  const Operand scratch = loss_scratch(graph, id, shape);
  graph.add_launches(id, [=, &graph, &node](int slot) {
    SoftmaxCrossEntropyArrays arrays;
    arrays.logits = logarithms.at();
    arrays.labels = graph.address<std::int32_t>(node.inputs[1], slot);
    arrays.figures = graph.address<kernels::LossFigures>(node.outputs[0]);
    arrays.scratch = scratch.at<float>();
    return kernels::cuda::nll_loss_forward(graph.limits(), kFull, shape, arrays);
  });
}

void add_nll_loss_backward(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto shape = shape_of(graph, node.outputs[0]);
  const Operand dx = graph.output(id, node.outputs[0], kFull);
  const Operand scratch = loss_scratch(graph, id, shape);
  const Operand state = state_of(graph, id, 1);
  graph.add_launches(id, [=, &graph, &node](int slot) {
    SoftmaxCrossEntropyArrays arrays;
    arrays.labels = graph.address<std::int32_t>(node.inputs[0], slot);
    arrays.dlogits = dx.at();
    arrays.state = state.at<float>();
    arrays.scratch = scratch.at<float>();
    return kernels::cuda::nll_loss_backward(graph.limits(), kFull, shape, arrays);
  });
}

}  // namespace headway::trainer::cuda_device
