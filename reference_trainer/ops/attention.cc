// SPDX-License-Identifier: MIT
// Causal self-attention (mathematics in kernels/attention/op.h): as one op, and as the ops that
// attention() builds and passes/fuse_attention.h joins.
#include "kernels/attention/op.h"

#include <cmath>

#include "kernels/softmax/op.h"
#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

using kernels::AttentionShape;
using kernels::BatchedMatmul;

const AttentionShape& shape_of(const Node& node) {
  return std::get<AttentionShape>(node.attributes);
}

Work forward_work(const Graph&, const Node& node) {
  return kernels::attention_forward_work(shape_of(node));
}
Work backward_work(const Graph&, const Node& node) {
  return kernels::attention_backward_work(shape_of(node));
}
Work move_work(const Graph& graph, const Node& node) {
  return {0, operand_bytes(graph, node)};
}
Work matmul_work(const Graph&, const Node& node) {
  return kernels::batched_matmul_work(std::get<BatchedMatmul>(node.attributes));
}
Work softmax_work(const Graph& graph, const Node& node) {
  const Shape& s = graph.value(node.outputs[0]).shape;
  return kernels::softmax_forward_work(s[0], s[1]);
}
Work softmax_backward_work(const Graph& graph, const Node& node) {
  const Shape& s = graph.value(node.outputs[0]).shape;
  return kernels::softmax_backward_work(s[0], s[1]);
}

void differentiate(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId y = node.outputs[0];
  const ValueId qkv = node.inputs[0];
  gradients.accumulate(
      id, qkv,
      gradients.emit(kAttentionBackward, id, {qkv, y, node.outputs[1], gradients.of(y)}, {qkv})[0]);
}

void differentiate_split(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  std::vector<ValueId> parts;
  for (ValueId output : node.outputs) parts.push_back(gradients.of(output));
  gradients.accumulate(id, node.inputs[0],
                       gradients.emit(kSplitHeadsBackward, id, parts, {node.inputs[0]})[0]);
}

void differentiate_merge(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId dy = gradients.of(node.outputs[0]);
  gradients.accumulate(id, node.inputs[0],
                       gradients.emit(kMergeHeadsBackward, id, {dy}, {node.inputs[0]})[0]);
}

/// Masked positions have probability 0, so the gradient of a softmax after the mask is 0 there.
void differentiate_mask(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  gradients.accumulate(id, node.inputs[0], gradients.of(node.outputs[0]));
}

void differentiate_roll(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  auto back = std::get<RollAttributes>(node.attributes);
  back.shift = -back.shift;
  const ValueId dy = gradients.of(node.outputs[0]);
  gradients.accumulate(id, node.inputs[0],
                       gradients.emit(kRoll, id, {dy}, {node.inputs[0]}, back)[0]);
}

/// c = a·b: da = dc·bᵀ and db = aᵀ·dc; c = a·bᵀ: da = dc·b and db = dcᵀ·a.
void differentiate_matmul(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const auto s = std::get<BatchedMatmul>(node.attributes);
  HEADWAY_INVARIANT(!s.transpose_a);
  const ValueId dc = gradients.of(node.outputs[0]);
  const ValueId a = node.inputs[0];
  const ValueId b = node.inputs[1];
  gradients.accumulate(
      id, a,
      gradients.emit(kBatchedMatmul, id, {dc, b}, {a},
                     BatchedMatmul{s.groups, s.m, s.k, s.n, false, !s.transpose_b})[0]);
  const ValueId db = s.transpose_b
                         ? gradients.emit(kBatchedMatmul, id, {dc, a}, {b},
                                          BatchedMatmul{s.groups, s.n, s.k, s.m, true, false})[0]
                         : gradients.emit(kBatchedMatmul, id, {a, dc}, {b},
                                          BatchedMatmul{s.groups, s.k, s.n, s.m, true, false})[0];
  gradients.accumulate(id, b, db);
}

void differentiate_softmax(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId y = node.outputs[0];
  gradients.accumulate(
      id, node.inputs[0],
      gradients.emit(kSoftmaxBackward, id, {y, gradients.of(y)}, {node.inputs[0]})[0]);
}

}  // namespace

const OpDefinition kAttention{"attention", "qkv -> y, log of the sums", forward_work,
                              differentiate};
const OpDefinition kAttentionBackward{"attention_backward", "qkv, y, sums, dy -> dqkv",
                                      backward_work};
const OpDefinition kSplitHeads{"split_heads", "qkv -> q, k, v of each head", move_work,
                               differentiate_split};
const OpDefinition kSplitHeadsBackward{"split_heads_backward", "dq, dk, dv -> dqkv", move_work};
const OpDefinition kMergeHeads{"merge_heads", "y of each head -> y", move_work,
                               differentiate_merge};
const OpDefinition kMergeHeadsBackward{"merge_heads_backward", "dy -> dy of each head", move_work};
const OpDefinition kAttentionMask{"attention_mask", "scores -> scores or -1e30", move_work,
                                  differentiate_mask};
const OpDefinition kRoll{"window_shift", "rows moved along their sequence", move_work,
                         differentiate_roll};
const OpDefinition kBatchedMatmul{"batched_matmul", "a, b -> a·b of each group", matmul_work,
                                  differentiate_matmul};
const OpDefinition kSoftmax{"softmax", "x -> probabilities of each row", softmax_work,
                            differentiate_softmax};
const OpDefinition kSoftmaxBackward{"softmax_backward", "y, dy -> dx", softmax_backward_work};

ValueId batched_matmul(Graph& graph, const std::string& name, ValueId a, ValueId b,
                       const BatchedMatmul& s) {
  require(graph.value(a).shape == Shape{s.groups * s.m, s.k}, kBatchedMatmul, name,
          "a first operand of [groups·m, k]", graph.value(a).shape);
  return add_forward(graph, kBatchedMatmul, name, {a, b}, {s.groups * s.m, s.n}, s);
}

ValueId softmax(Graph& graph, const std::string& name, ValueId x) {
  return add_forward(graph, kSoftmax, name, {x}, graph.value(x).shape);
}

ValueId attention(Graph& graph, const std::string& name, ValueId qkv, const AttentionShape& s) {
  const Shape in = graph.value(qkv).shape;
  require(in == Shape{s.batch * s.length, 3 * s.columns()} && s.window > 0 &&
              s.length % s.window == 0 && s.shift >= 0 && s.shift < s.window,
          kAttention, name, "[tokens, 3·heads·depth], and windows that divide the length", in);
  const RollAttributes roll{s.batch, s.length, s.shift};
  if (s.shift > 0) qkv = add_forward(graph, kRoll, name + ".roll", {qkv}, in, roll);
  const Shape part{s.groups() * s.window, s.depth};
  std::vector<ValueId> parts;
  for (const char* which : {".q", ".k", ".v"})
    parts.push_back(add_output(graph, name + which, part));
  graph.add_node({&kSplitHeads, name + ".split", Phase::kForward, NodeId::none(), {qkv}, parts, s});
  const Shape scores{s.groups() * s.window, s.window};
  ValueId p = add_forward(graph, kBatchedMatmul, name + ".scores", {parts[0], parts[1]}, scores,
                          BatchedMatmul{s.groups(), s.window, s.window, s.depth, false, true});
  p = scale(graph, name + ".scale", p, 1 / std::sqrt(static_cast<float>(s.depth)));
  p = add_forward(graph, kAttentionMask, name + ".mask", {p}, scores, s);
  p = add_forward(graph, kSoftmax, name + ".softmax", {p}, scores);
  ValueId y = add_forward(graph, kBatchedMatmul, name + ".values", {p, parts[2]}, part,
                          BatchedMatmul{s.groups(), s.window, s.depth, s.window, false, false});
  const Shape merged{in[0], s.columns()};
  y = add_forward(graph, kMergeHeads, name + ".merge", {y}, merged, s);
  if (s.shift > 0)
    y = add_forward(graph, kRoll, name + ".roll_back", {y}, merged,
                    RollAttributes{s.batch, s.length, -s.shift});
  return y;
}

}  // namespace headway::trainer::ops
