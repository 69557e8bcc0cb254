// SPDX-License-Identifier: MIT
// Converts gradients of a strided convolution's results to those of the same convolution without a
// stride, with zeros where the strided convolution computes nothing. This is a backward op without
// a gradient.
#include "kernels/insert_zeros/op.h"

#include "reference_trainer/ops/insert_zeros.h"
#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work work(const Graph& graph, const Node& node) {
  return {0, operand_bytes(graph, node)};
}

}  // namespace

const OpDefinition kInsertZeros{"insert_zeros", "dy -> dy with zeros", work};

kernels::InsertZeros zeros_of(const Graph& graph, const Node& node) {
  const auto& by = std::get<ConvolutionAttributes>(node.attributes);
  const Shape& from = graph.value(node.inputs[0]).shape;
  const Shape& to = graph.value(node.outputs[0]).shape;
  if (by.channels_first) return {from[0] * from[1], from[2], from[3], 1, by.stride, to[2], to[3]};
  return {from[0], from[1], from[2], from[3], by.stride, to[1], to[2]};
}

}  // namespace headway::trainer::ops
