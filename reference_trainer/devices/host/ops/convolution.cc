// SPDX-License-Identifier: MIT
// conv2d and its gradients by oneDNN. Activations are NHWC (measured within 5 % of its blocked
// layouts for these shapes, and without reorders) or, where the graph asks for it, plain NCHW.
// Weights have the layout that the forward form prefers.
#include <string_view>

#include "reference_trainer/devices/host/dnnl_call.h"
#include "reference_trainer/devices/host/ops/geometry.h"
#include "reference_trainer/devices/host/ops/host_ops.h"

namespace headway::trainer::host {
namespace {

using dnnl::memory;

Geometry geometry(const HostGraph& graph, const Node& node, ValueId x, ValueId w, ValueId y) {
  return geometry_of(graph, std::get<ConvolutionAttributes>(node.attributes), x, w, y);
}

memory::desc any_layout(const memory::desc& of) {
  return {of.dims(), memory::data_type::f32, memory::format_tag::any};
}

/// oneDNN's kernels for 1x1 filters with a stride need more scratch memory than they request, for
/// NHWC images with fewer channels than a vector has, and write behind it (its issue 6035, open in
/// 3.12). The kernels after them in its list do not.
bool writes_behind_scratch(const dnnl::convolution_backward_weights::primitive_desc& plan,
                           const Geometry& g) {
  constexpr memory::dim kVector = 16;
  return g.strides[0] > 1 && plan.src_desc().dims()[1] < kVector &&
         std::string_view(plan.impl_info_str()).starts_with("jit_1x1");
}

/// The forward form's plan, which the gradients need as a hint. `fixed_weights`: with the weights'
/// present layout.
dnnl::convolution_forward::primitive_desc forward_plan(const HostGraph& graph, const Geometry& g,
                                                       ValueId x, const memory::desc& w,
                                                       ValueId y) {
  const dnnl::convolution_forward::desc desc(
      dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, graph.layout(x), w,
      graph.layout(y), g.strides, g.padding_left, g.padding_right);
  return {desc, DnnlCall::attributes(), graph.engine()};
}

}  // namespace

void add_conv2d(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto [x, w, y] = std::tuple{node.inputs[0], node.inputs[1], node.outputs[0]};
  const memory::desc weights = graph.has_layout(w) ? graph.layout(w) : any_layout(graph.layout(w));
  const auto plan = forward_plan(graph, geometry(graph, node, x, w, y), x, weights, y);
  graph.set_layout(w, plan.weights_desc());
  auto call = DnnlCall::make(graph, dnnl::convolution_forward(plan),
                             {{DNNL_ARG_SRC, x, plan.src_desc()},
                              {DNNL_ARG_WEIGHTS, w, plan.weights_desc()},
                              {DNNL_ARG_DST, y, plan.dst_desc()}},
                             plan.scratchpad_desc());
  graph.add_kernel(id, [call](const LaunchArguments& a) { call->run(a.slot); });
}

void add_conv2d_backward_data(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto [dy, w, dx] = std::tuple{node.inputs[0], node.inputs[1], node.outputs[0]};
  const Geometry g = geometry(graph, node, dx, w, dy);
  const memory::desc any = any_layout(graph.layout(w));
  const dnnl::convolution_backward_data::desc desc(dnnl::algorithm::convolution_direct,
                                                   graph.layout(dx), any, graph.layout(dy),
                                                   g.strides, g.padding_left, g.padding_right);
  const dnnl::convolution_backward_data::primitive_desc plan(
      desc, DnnlCall::attributes(), graph.engine(), forward_plan(graph, g, dx, any, dy));
  std::vector<DnnlCall::Operand> operands = {{DNNL_ARG_DIFF_DST, dy, plan.diff_dst_desc()},
                                             {DNNL_ARG_DIFF_SRC, dx, plan.diff_src_desc()}};
  const bool reorder = plan.weights_desc() != graph.layout(w);
  if (!reorder) operands.push_back({DNNL_ARG_WEIGHTS, w, plan.weights_desc()});
  auto call = DnnlCall::make(graph, dnnl::convolution_backward_data(plan), std::move(operands),
                             plan.scratchpad_desc());
  if (reorder) call->reorder_before(DNNL_ARG_WEIGHTS, w, plan.weights_desc());
  graph.add_kernel(id, [call](const LaunchArguments& a) { call->run(a.slot); });
}

void add_conv2d_backward_weights(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto [dy, x, dw] = std::tuple{node.inputs[0], node.inputs[1], node.outputs[0]};
  const Geometry g = geometry(graph, node, x, dw, dy);
  const memory::desc any = any_layout(graph.layout(dw));
  const dnnl::convolution_backward_weights::desc desc(dnnl::algorithm::convolution_direct,
                                                      graph.layout(x), any, graph.layout(dy),
                                                      g.strides, g.padding_left, g.padding_right);
  dnnl::convolution_backward_weights::primitive_desc plan(
      desc, DnnlCall::attributes(), graph.engine(), forward_plan(graph, g, x, any, dy));
  while (writes_behind_scratch(plan, g) && plan.next_impl()) continue;
  std::vector<DnnlCall::Operand> operands = {{DNNL_ARG_SRC, x, plan.src_desc()},
                                             {DNNL_ARG_DIFF_DST, dy, plan.diff_dst_desc()}};
  const bool reorder = plan.diff_weights_desc() != graph.layout(dw);
  if (!reorder) operands.push_back({DNNL_ARG_DIFF_WEIGHTS, dw, plan.diff_weights_desc()});
  auto call = DnnlCall::make(graph, dnnl::convolution_backward_weights(plan), std::move(operands),
                             plan.scratchpad_desc());
  if (reorder) call->reorder_after(DNNL_ARG_DIFF_WEIGHTS, dw, plan.diff_weights_desc());
  graph.add_kernel(id, [call](const LaunchArguments& a) { call->run(a.slot); });
}

}  // namespace headway::trainer::host
