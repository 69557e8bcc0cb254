// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/devices/cuda/compile.h"
#include "reference_trainer/devices/cuda/cuda_device.h"

// An op looks like this (devices/cuda/ops/rows.cc):
//
//   void add_softmax(CudaGraph& graph, NodeId id) {
//     const Node& node = graph.node(id);
//     const NumberFormat format = graph.format(node.outputs[0]);
//     const Operand x = graph.input(id, node.inputs[0], format);
//     const Operand y = graph.operand(node.outputs[0]);
//     graph.add_launches(id, [=, &graph](int slot) -> Launches {
//       return {softmax_forward(graph.limits(), format, rows, columns, x.at(slot), y.at())};
//     });
//   }
//
// and is a line of devices/cuda/ops/all.cc. A library's op sizes its workspace with graph.scratch(id, bytes) while it
// is added, makes its descriptors in graph.when_bound, and sends in graph.add_kernel.
namespace headway::trainer::cuda_device {

// Each adds the kernels of one node of its op type (ops/op.h says what the operands are).
void add_insert_zeros(CudaGraph& graph, NodeId node);
void add_conv2d_fused(CudaGraph& graph, NodeId node);
void add_linear_fused(CudaGraph& graph, NodeId node);
void add_quantise(CudaGraph& graph, NodeId node);
void add_layout_change(CudaGraph& graph, NodeId node);  ///< both ways
void add_relu(CudaGraph& graph, NodeId node);
void add_relu_backward(CudaGraph& graph, NodeId node);
void add_add(CudaGraph& graph, NodeId node);
void add_linear(CudaGraph& graph, NodeId node);
void add_linear_backward_data(CudaGraph& graph, NodeId node);
void add_linear_backward_weights(CudaGraph& graph, NodeId node);
void add_matmul(CudaGraph& graph, NodeId node);
void add_matmul_backward_weights(CudaGraph& graph, NodeId node);
void add_batched_matmul(CudaGraph& graph, NodeId node);
void add_softmax_cross_entropy(CudaGraph& graph, NodeId node);
void add_softmax_cross_entropy_backward(CudaGraph& graph, NodeId node);
void add_log_softmax(CudaGraph& graph, NodeId node);
void add_log_softmax_backward(CudaGraph& graph, NodeId node);
void add_nll_loss(CudaGraph& graph, NodeId node);
void add_nll_loss_backward(CudaGraph& graph, NodeId node);
void add_row_program(CudaGraph& graph, NodeId node);  ///< every elementwise op, and clusters
void add_cast(CudaGraph& graph, NodeId node);
void add_tf32_round(CudaGraph& graph, NodeId node);  ///< nothing: products round by themselves
void add_column_sum(CudaGraph& graph, NodeId node);
void add_embedding(CudaGraph& graph, NodeId node);
void add_embedding_backward(CudaGraph& graph, NodeId node);
void add_layer_norm(CudaGraph& graph, NodeId node);  ///< also add_layer_norm
void add_layer_norm_backward(CudaGraph& graph, NodeId node);
void add_bias_gelu(CudaGraph& graph, NodeId node);
void add_bias_gelu_backward(CudaGraph& graph, NodeId node);
void add_attention(CudaGraph& graph, NodeId node);
void add_attention_backward(CudaGraph& graph, NodeId node);
void add_split_heads(CudaGraph& graph, NodeId node);
void add_split_heads_backward(CudaGraph& graph, NodeId node);
void add_merge_heads(CudaGraph& graph, NodeId node);
void add_merge_heads_backward(CudaGraph& graph, NodeId node);
void add_attention_mask(CudaGraph& graph, NodeId node);
void add_roll(CudaGraph& graph, NodeId node);
void add_softmax(CudaGraph& graph, NodeId node);
void add_softmax_backward(CudaGraph& graph, NodeId node);
/// Sums of x's columns, as one of the kernels of a node.
void add_column_sum(CudaGraph& graph, NodeId node, ValueId x, ValueId sums);
void add_conv2d(CudaGraph& graph, NodeId node);
void add_conv2d_backward_data(CudaGraph& graph, NodeId node);
void add_conv2d_backward_weights(CudaGraph& graph, NodeId node);
void add_batch_norm(CudaGraph& graph, NodeId node);  ///< also bn_relu and bn_add_relu
void add_batch_norm_backward(CudaGraph& graph, NodeId node);
void add_pool(CudaGraph& graph, NodeId node);
void add_pool_backward(CudaGraph& graph, NodeId node);
void add_max_pool(CudaGraph& graph, NodeId node);
void add_max_pool_backward(CudaGraph& graph, NodeId node);
void add_lstm(CudaGraph& graph, NodeId node);
void add_lstm_backward(CudaGraph& graph, NodeId node);
void add_join(CudaGraph& graph, NodeId node);   ///< join_rows, join_maps
void add_split(CudaGraph& graph, NodeId node);  ///< split_rows, split_maps
void add_swap_major(CudaGraph& graph, NodeId node);
void add_padding_mask(CudaGraph& graph, NodeId node);
void add_assign_boxes(CudaGraph& graph, NodeId node);
void add_background_losses(CudaGraph& graph, NodeId node);
void add_pick_anchors(CudaGraph& graph, NodeId node);
void add_multibox_loss(CudaGraph& graph, NodeId node);
void add_multibox_loss_backward(CudaGraph& graph, NodeId node);
// Updates, each also in its multi-tensor form.
void add_sgd_momentum(CudaGraph& graph, NodeId node);
void add_adam(CudaGraph& graph, NodeId node);
void add_lamb(CudaGraph& graph, NodeId node);
void add_lars(CudaGraph& graph, NodeId node);
void add_unscale(CudaGraph& graph, NodeId node);
void add_update_scale(CudaGraph& graph, NodeId node);

}  // namespace headway::trainer::cuda_device
