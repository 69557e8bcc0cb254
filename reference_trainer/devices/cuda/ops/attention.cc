// SPDX-License-Identifier: MIT
// Attention as one op, and the unfused ops between its products.
#include "kernels/attention/launch.h"

#include "kernels/heads/launch.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"

namespace headway::trainer::cuda_device {
namespace {

using kernels::AttentionShape;

const AttentionShape& shape_of(const Node& node) {
  return std::get<AttentionShape>(node.attributes);
}

/// Largest depth of a head that the fused kernels keep in registers.
constexpr std::int64_t kMostDepth = 128;

void require_depth(const CudaGraph& graph, NodeId id) {
  if (shape_of(graph.node(id)).depth > kMostDepth)
    graph.refuse(id,
                 "fused attention is for heads of up to 128 features; use --fused-attention off");
}

/// A kernel that moves the rows of one operand: `run(from, to)`, in the result's format.
template <class Run>
void add_move(CudaGraph& graph, NodeId id, const Run& run) {
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand from = graph.input(id, node.inputs[0], format);
  const Operand to = graph.operand(node.outputs[0]);
  graph.add_launches(id,
                     [=](int slot) -> Launches { return {run(format, from.at(slot), to.at())}; });
}

}  // namespace

void add_attention(CudaGraph& graph, NodeId id) {
  require_depth(graph, id);
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.inputs[0]);
  const Operand y = graph.output(id, node.outputs[0], format);
  graph.add_launches(id, [=, &graph, &node](int) -> Launches {
    return {kernels::cuda::attention_forward(graph.limits(), format, shape_of(node),
                                             graph.address(node.inputs[0]), y.at(),
                                             graph.address<float>(node.outputs[1]))};
  });
}

void add_attention_backward(CudaGraph& graph, NodeId id) {
  require_depth(graph, id);
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.inputs[0]);
  const Operand y = graph.input(id, node.inputs[1], format);
  const Operand lse = graph.input(id, node.inputs[2], NumberFormat::kFloat32);
  const Operand dy = graph.input(id, node.inputs[3], format);
  const Operand dqkv = graph.output(id, node.outputs[0], format);
  const AttentionShape& shape = shape_of(node);
  const Operand shares = graph.scratch(id, 4 * shape.groups() * shape.window);
  graph.add_launches(id, [=, &graph, &node](int) {
    return kernels::cuda::attention_backward(graph.limits(), format, shape_of(node),
                                             graph.address(node.inputs[0]), y.at(), lse.at<float>(),
                                             dy.at(), dqkv.at(), shares.at<float>());
  });
}

void add_split_heads(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand qkv = graph.input(id, node.inputs[0], format);
  graph.add_launches(id, [=, &graph, &node](int) -> Launches {
    return {kernels::cuda::split_heads(
        graph.limits(), format, shape_of(node), qkv.at(), graph.address(node.outputs[0]),
        graph.address(node.outputs[1]), graph.address(node.outputs[2]))};
  });
}

void add_split_heads_backward(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand q = graph.input(id, node.inputs[0], format);
  const Operand k = graph.input(id, node.inputs[1], format);
  const Operand v = graph.input(id, node.inputs[2], format);
  graph.add_launches(id, [=, &graph, &node](int) -> Launches {
    return {kernels::cuda::join_heads(graph.limits(), format, shape_of(node), q.at(), k.at(),
                                      v.at(), graph.address(node.outputs[0]))};
  });
}

void add_merge_heads(CudaGraph& graph, NodeId id) {
  add_move(
      graph, id,
      [&graph, shape = shape_of(graph.node(id))](NumberFormat format, const void* from, void* to) {
        return kernels::cuda::merge_heads(graph.limits(), format, shape, from, to);
      });
}

void add_merge_heads_backward(CudaGraph& graph, NodeId id) {
  add_move(
      graph, id,
      [&graph, shape = shape_of(graph.node(id))](NumberFormat format, const void* from, void* to) {
        return kernels::cuda::split_merged(graph.limits(), format, shape, from, to);
      });
}

void add_attention_mask(CudaGraph& graph, NodeId id) {
  add_move(
      graph, id,
      [&graph, shape = shape_of(graph.node(id))](NumberFormat format, const void* from, void* to) {
        return kernels::cuda::attention_mask(graph.limits(), format, shape, from, to);
      });
}

void add_roll(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  add_move(
      graph, id,
      [&graph, by = std::get<RollAttributes>(node.attributes),
       columns = graph.shape(node.outputs[0])[1]](NumberFormat format, const void* from, void* to) {
        return kernels::cuda::roll_rows(graph.limits(), format, by.batch, by.length, columns,
                                        by.shift, from, to);
      });
}

}  // namespace headway::trainer::cuda_device
