// SPDX-License-Identifier: MIT
// Two-dimensional convolution: y[n,p,q,k] = sum over r,s,c of x[n, p·stride+r-pad, q·stride+s-pad,
// c] · w[k,c,r,s]. Each of its three forms multiplies and adds once per (output element, c, r, s).
// Built for NHWC images; passes/assign_layout.h may change them to NCHW.
#include <cmath>

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

/// `output` is the operand with the shape of y, `weights` the one with the shape of w.
Work convolution_work(const Graph& graph, const Node& node, ValueId output, ValueId weights) {
  const Shape& w = graph.value(weights).shape;
  return {2 * elements(graph, output) * w[1] * w[2] * w[3], operand_bytes(graph, node)};
}

Work forward_work(const Graph& graph, const Node& node) {
  return convolution_work(graph, node, node.outputs[0], node.inputs[1]);
}
Work backward_data_work(const Graph& graph, const Node& node) {
  return convolution_work(graph, node, node.inputs[0], node.inputs[1]);
}
Work backward_weights_work(const Graph& graph, const Node& node) {
  return convolution_work(graph, node, node.inputs[0], node.outputs[0]);
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId dy = gradients.of(node.outputs[0]);
  const ValueId x = node.inputs[0];
  const ValueId w = node.inputs[1];
  if (gradients.needs_gradient(x))
    gradients.accumulate(id, x, gradients.emit(kConv2dBackwardData, id, {dy, w}, {x})[0]);
  gradients.accumulate(id, w, gradients.emit(kConv2dBackwardWeights, id, {dy, x}, {w})[0]);
}

}  // namespace

const OpDefinition kConv2d{"conv2d", "x, weights -> y", forward_work, differentiate};
const OpDefinition kConv2dBackwardData{"conv2d_backward_data", "dy, weights -> dx",
                                       backward_data_work};
const OpDefinition kConv2dBackwardWeights{"conv2d_backward_weights", "dy, x -> dweights",
                                          backward_weights_work};

ValueId conv2d(Graph& graph, const std::string& name, ValueId x, std::int64_t out_channels,
               int kernel, int stride, int padding) {
  const Shape in = graph.value(x).shape;
  require(in.rank() == 4, kConv2d, name, "an input of rank 4 (NHWC)", in);
  if (padding < 0) padding = kernel / 2;
  const std::int64_t fan_in = in[3] * kernel * kernel;
  // He initialisation: keeps the variance of activations through ReLU layers.
  const float deviation = std::sqrt(2.0F / static_cast<float>(fan_in));
  const ValueId w = add_parameter(graph, name + ".weight", {out_channels, in[3], kernel, kernel},
                                  {Initial::Kind::kNormal, deviation});
  graph.value(w).is_filter = true;
  auto extent = [&](std::int64_t size) { return (size + 2 * padding - kernel) / stride + 1; };
  return add_forward(graph, kConv2d, name, {x, w},
                     {in[0], extent(in[1]), extent(in[2]), out_channels},
                     ConvolutionAttributes{stride, padding});
}

}  // namespace headway::trainer::ops
