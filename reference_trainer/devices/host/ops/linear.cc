// SPDX-License-Identifier: MIT
// The fully connected layer and its gradients by oneDNN's inner product, all operands row-major.
#include "reference_trainer/devices/host/dnnl_call.h"
#include "reference_trainer/devices/host/ops/host_ops.h"

namespace headway::trainer::host {
namespace {

dnnl::inner_product_forward::primitive_desc forward_plan(const HostGraph& graph, ValueId x,
                                                         ValueId w, ValueId y) {
  const dnnl::inner_product_forward::desc desc(dnnl::prop_kind::forward_training, graph.layout(x),
                                               graph.layout(w), graph.layout(y));
  return {desc, DnnlCall::attributes(), graph.engine()};
}

}  // namespace

void add_linear(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto [x, w, b] = std::tuple{node.inputs[0], node.inputs[1], node.inputs[2]};
  const ValueId y = node.outputs[0];
  const dnnl::inner_product_forward::desc desc(dnnl::prop_kind::forward_training, graph.layout(x),
                                               graph.layout(w), graph.layout(b), graph.layout(y));
  const dnnl::inner_product_forward::primitive_desc plan(desc, DnnlCall::attributes(),
                                                         graph.engine());
  auto call = DnnlCall::make(graph, dnnl::inner_product_forward(plan),
                             {{DNNL_ARG_SRC, x, plan.src_desc()},
                              {DNNL_ARG_WEIGHTS, w, plan.weights_desc()},
                              {DNNL_ARG_BIAS, b, plan.bias_desc()},
                              {DNNL_ARG_DST, y, plan.dst_desc()}},
                             plan.scratchpad_desc());
  graph.add_kernel(id, [call](const LaunchArguments& a) { call->run(a.slot); });
}

void add_linear_backward_data(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto [dy, w, dx] = std::tuple{node.inputs[0], node.inputs[1], node.outputs[0]};
  const dnnl::inner_product_backward_data::desc desc(graph.layout(dx), graph.layout(w),
                                                     graph.layout(dy));
  const dnnl::inner_product_backward_data::primitive_desc plan(
      desc, DnnlCall::attributes(), graph.engine(), forward_plan(graph, dx, w, dy));
  auto call = DnnlCall::make(graph, dnnl::inner_product_backward_data(plan),
                             {{DNNL_ARG_DIFF_DST, dy, plan.diff_dst_desc()},
                              {DNNL_ARG_WEIGHTS, w, plan.weights_desc()},
                              {DNNL_ARG_DIFF_SRC, dx, plan.diff_src_desc()}},
                             plan.scratchpad_desc());
  graph.add_kernel(id, [call](const LaunchArguments& a) { call->run(a.slot); });
}

void add_linear_backward_weights(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto [dy, x] = std::tuple{node.inputs[0], node.inputs[1]};
  const auto [dw, db] = std::tuple{node.outputs[0], node.outputs[1]};
  const dnnl::inner_product_backward_weights::desc desc(graph.layout(x), graph.layout(dw),
                                                        graph.layout(db), graph.layout(dy));
  const dnnl::inner_product_backward_weights::primitive_desc plan(
      desc, DnnlCall::attributes(), graph.engine(), forward_plan(graph, x, dw, dy));
  auto call = DnnlCall::make(graph, dnnl::inner_product_backward_weights(plan),
                             {{DNNL_ARG_DIFF_DST, dy, plan.diff_dst_desc()},
                              {DNNL_ARG_SRC, x, plan.src_desc()},
                              {DNNL_ARG_DIFF_WEIGHTS, dw, plan.diff_weights_desc()},
                              {DNNL_ARG_DIFF_BIAS, db, plan.diff_bias_desc()}},
                             plan.scratchpad_desc());
  graph.add_kernel(id, [call](const LaunchArguments& a) { call->run(a.slot); });
}

void add_matmul(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto [x, w, y] = std::tuple{node.inputs[0], node.inputs[1], node.outputs[0]};
  const auto plan = forward_plan(graph, x, w, y);
  auto call = DnnlCall::make(graph, dnnl::inner_product_forward(plan),
                             {{DNNL_ARG_SRC, x, plan.src_desc()},
                              {DNNL_ARG_WEIGHTS, w, plan.weights_desc()},
                              {DNNL_ARG_DST, y, plan.dst_desc()}},
                             plan.scratchpad_desc());
  graph.add_kernel(id, [call](const LaunchArguments& a) { call->run(a.slot); });
}

void add_matmul_backward_weights(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto [dy, x, dw] = std::tuple{node.inputs[0], node.inputs[1], node.outputs[0]};
  const dnnl::inner_product_backward_weights::desc desc(graph.layout(x), graph.layout(dw),
                                                        graph.layout(dy));
  const dnnl::inner_product_backward_weights::primitive_desc plan(
      desc, DnnlCall::attributes(), graph.engine(), forward_plan(graph, x, dw, dy));
  auto call = DnnlCall::make(graph, dnnl::inner_product_backward_weights(plan),
                             {{DNNL_ARG_DIFF_DST, dy, plan.diff_dst_desc()},
                              {DNNL_ARG_SRC, x, plan.src_desc()},
                              {DNNL_ARG_DIFF_WEIGHTS, dw, plan.diff_weights_desc()}},
                             plan.scratchpad_desc());
  graph.add_kernel(id, [call](const LaunchArguments& a) { call->run(a.slot); });
}

}  // namespace headway::trainer::host
