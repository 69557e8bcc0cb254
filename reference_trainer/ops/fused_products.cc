// SPDX-License-Identifier: MIT
// Products of inference with the ops that follow them, in the same kernel:
//   y = activation(x * w + bias [+ residual])
// by convolution or by matrix, in floating point or with 8-bit integers (a scale for each output
// channel of the weights):
//   y = quantised(activation(scale · (x8 * w8) + bias [+ residual]))
// and x -> x8, which pads the last extent with zeros. There are no gradients: passes build these
// ops from trained graphs.
#include "reference_trainer/ops/fused_products.h"

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work convolution_work(const Graph& graph, const Node& node) {
  const Shape& w = graph.value(node.inputs[1]).shape;
  return {2 * elements(graph, node.outputs[0]) * w[1] * w[2] * w[3], operand_bytes(graph, node)};
}

Work linear_work(const Graph& graph, const Node& node) {
  const Shape& w = graph.value(node.inputs[1]).shape;
  return {2 * elements(graph, node.outputs[0]) * w[1], operand_bytes(graph, node)};
}

Work quantise_work(const Graph& graph, const Node& node) {
  return {2 * elements(graph, node.inputs[0]), operand_bytes(graph, node)};
}

}  // namespace

const OpDefinition kConv2dFused{"conv2d_fused",
                                "x, weights, bias [, residual] -> y, activated and quantised",
                                convolution_work};
const OpDefinition kLinearFused{
    "linear_fused", "x, weights, bias [, residual] -> y, activated and quantised", linear_work};
const OpDefinition kQuantise{"quantise", "x -> integers of 8 bits", quantise_work};

bool is_fused_product(const Node& node) {
  return node.op == &kConv2dFused || node.op == &kLinearFused;
}

}  // namespace headway::trainer::ops
