// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/devices/host/compile.h"

namespace headway::trainer::host {

// Each adds the kernels of one node of its op type (ops/op.h says what the operands are).
void add_conv2d(HostGraph& graph, NodeId node);
void add_conv2d_backward_data(HostGraph& graph, NodeId node);
void add_conv2d_backward_weights(HostGraph& graph, NodeId node);
void add_batch_norm(HostGraph& graph, NodeId node);  ///< also bn_relu and bn_add_relu
void add_batch_norm_backward(HostGraph& graph, NodeId node);
void add_relu(HostGraph& graph, NodeId node);
void add_relu_backward(HostGraph& graph, NodeId node);
void add_add(HostGraph& graph, NodeId node);
void add_pool(HostGraph& graph, NodeId node);
void add_pool_backward(HostGraph& graph, NodeId node);
void add_linear(HostGraph& graph, NodeId node);
void add_linear_backward_data(HostGraph& graph, NodeId node);
void add_linear_backward_weights(HostGraph& graph, NodeId node);
void add_softmax_cross_entropy(HostGraph& graph, NodeId node);
void add_softmax_cross_entropy_backward(HostGraph& graph, NodeId node);
void add_sgd_momentum(HostGraph& graph, NodeId node);  ///< also the multi-tensor form

}  // namespace headway::trainer::host
