// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/devices/host/compile.h"

namespace headway::trainer::host {

// Each adds the kernels of one node of its op type (ops/op.h says what the operands are).
void add_conv2d(HostGraph& graph, NodeId node);
void add_conv2d_backward_data(HostGraph& graph, NodeId node);
void add_conv2d_backward_weights(HostGraph& graph, NodeId node);
void add_insert_zeros(HostGraph& graph, NodeId node);
void add_conv2d_fused(HostGraph& graph, NodeId node);
void add_linear_fused(HostGraph& graph, NodeId node);
void add_quantise(HostGraph& graph, NodeId node);
void add_layout_change(HostGraph& graph, NodeId node);  ///< both ways
void add_batch_norm(HostGraph& graph, NodeId node);     ///< also bn_relu and bn_add_relu
void add_batch_norm_backward(HostGraph& graph, NodeId node);
void add_relu(HostGraph& graph, NodeId node);
void add_relu_backward(HostGraph& graph, NodeId node);
void add_add(HostGraph& graph, NodeId node);
void add_pool(HostGraph& graph, NodeId node);
void add_pool_backward(HostGraph& graph, NodeId node);
void add_max_pool(HostGraph& graph, NodeId node);
void add_max_pool_backward(HostGraph& graph, NodeId node);
void add_linear(HostGraph& graph, NodeId node);
void add_linear_backward_data(HostGraph& graph, NodeId node);
void add_linear_backward_weights(HostGraph& graph, NodeId node);
void add_softmax_cross_entropy(HostGraph& graph, NodeId node);
void add_softmax_cross_entropy_backward(HostGraph& graph, NodeId node);
void add_matmul(HostGraph& graph, NodeId node);
void add_matmul_backward_weights(HostGraph& graph, NodeId node);
void add_log_softmax(HostGraph& graph, NodeId node);
void add_log_softmax_backward(HostGraph& graph, NodeId node);
void add_nll_loss(HostGraph& graph, NodeId node);
void add_nll_loss_backward(HostGraph& graph, NodeId node);
void add_row_program(HostGraph& graph, NodeId node);  ///< every elementwise op, and clusters
void add_cast(HostGraph& graph, NodeId node);
void add_column_sum(HostGraph& graph, NodeId node);
void add_embedding(HostGraph& graph, NodeId node);
void add_embedding_backward(HostGraph& graph, NodeId node);
void add_layer_norm(HostGraph& graph, NodeId node);  ///< also add_layer_norm
void add_layer_norm_backward(HostGraph& graph, NodeId node);
void add_bias_gelu(HostGraph& graph, NodeId node);
void add_bias_gelu_backward(HostGraph& graph, NodeId node);
void add_attention(HostGraph& graph, NodeId node);
void add_attention_backward(HostGraph& graph, NodeId node);
void add_split_heads(HostGraph& graph, NodeId node);
void add_split_heads_backward(HostGraph& graph, NodeId node);
void add_merge_heads(HostGraph& graph, NodeId node);
void add_merge_heads_backward(HostGraph& graph, NodeId node);
void add_attention_mask(HostGraph& graph, NodeId node);
void add_roll(HostGraph& graph, NodeId node);
void add_batched_matmul(HostGraph& graph, NodeId node);
void add_softmax(HostGraph& graph, NodeId node);
void add_softmax_backward(HostGraph& graph, NodeId node);
void add_lstm(HostGraph& graph, NodeId node);
void add_lstm_backward(HostGraph& graph, NodeId node);
void add_split_rows(HostGraph& graph, NodeId node);
void add_join_rows(HostGraph& graph, NodeId node);
void add_swap_major(HostGraph& graph, NodeId node);
void add_padding_mask(HostGraph& graph, NodeId node);
void add_join_maps(HostGraph& graph, NodeId node);
void add_split_maps(HostGraph& graph, NodeId node);
void add_assign_boxes(HostGraph& graph, NodeId node);
void add_background_losses(HostGraph& graph, NodeId node);
void add_pick_anchors(HostGraph& graph, NodeId node);
void add_multibox_loss(HostGraph& graph, NodeId node);
void add_multibox_loss_backward(HostGraph& graph, NodeId node);
// Updates, each also in its multi-tensor form.
void add_sgd_momentum(HostGraph& graph, NodeId node);
void add_adam(HostGraph& graph, NodeId node);
void add_lamb(HostGraph& graph, NodeId node);
void add_lars(HostGraph& graph, NodeId node);
void add_unscale(HostGraph& graph, NodeId node);
void add_update_scale(HostGraph& graph, NodeId node);

/// What the gradient of the loss is multiplied by: the scaler's state is an operand where there is
/// one (kernels/loss_scaler/op.h).
float loss_scale(const HostGraph& graph, const Node& node, std::size_t operand);

}  // namespace headway::trainer::host
