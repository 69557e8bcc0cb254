// SPDX-License-Identifier: MIT
// Global average pooling by oneDNN: a window as large as the image; max pooling by our own kernel.
#include "kernels/max_pool/op.h"

#include "reference_trainer/devices/host/dnnl_call.h"
#include "reference_trainer/devices/host/ops/host_ops.h"

namespace headway::trainer::host {
namespace {

using dnnl::memory;

struct PoolLayouts {
  memory::desc image;   ///< [N,C,H,W]
  memory::desc pooled;  ///< [N,C,1,1]
  memory::dims window;
};

PoolLayouts pool_layouts(const HostGraph& graph, ValueId image) {
  const Shape& s = graph.graph().value(image).shape;
  return {graph.layout(image),
          {{s[0], s[3], 1, 1}, memory::data_type::f32, memory::format_tag::nhwc},
          {s[1], s[2]}};
}

dnnl::pooling_forward::primitive_desc forward_plan(const HostGraph& graph, const PoolLayouts& l) {
  const dnnl::pooling_forward::desc desc(dnnl::prop_kind::forward_training,
                                         dnnl::algorithm::pooling_avg_exclude_padding, l.image,
                                         l.pooled, {1, 1}, l.window, {0, 0}, {0, 0});
  return {desc, DnnlCall::attributes(), graph.engine()};
}

}  // namespace

void add_pool(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const PoolLayouts layouts = pool_layouts(graph, node.inputs[0]);
  const auto plan = forward_plan(graph, layouts);
  auto call = DnnlCall::make(graph, dnnl::pooling_forward(plan),
                             {{DNNL_ARG_SRC, node.inputs[0], plan.src_desc()},
                              {DNNL_ARG_DST, node.outputs[0], plan.dst_desc()}},
                             plan.scratchpad_desc());
  graph.add_kernel(id, [call](const LaunchArguments& a) { call->run(a.slot); });
}

void add_pool_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const PoolLayouts layouts = pool_layouts(graph, node.outputs[0]);
  const dnnl::pooling_backward::desc desc(dnnl::algorithm::pooling_avg_exclude_padding,
                                          layouts.image, layouts.pooled, {1, 1}, layouts.window,
                                          {0, 0}, {0, 0});
  const dnnl::pooling_backward::primitive_desc plan(desc, DnnlCall::attributes(), graph.engine(),
                                                    forward_plan(graph, layouts));
  auto call = DnnlCall::make(graph, dnnl::pooling_backward(plan),
                             {{DNNL_ARG_DIFF_DST, node.inputs[0], plan.diff_dst_desc()},
                              {DNNL_ARG_DIFF_SRC, node.outputs[0], plan.diff_src_desc()}},
                             plan.scratchpad_desc());
  graph.add_kernel(id, [call](const LaunchArguments& a) { call->run(a.slot); });
}

void add_max_pool(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(id, [&graph, &node](const LaunchArguments&) {
    kernels::max_pool_forward(std::get<kernels::MaxPoolShape>(node.attributes),
                              graph.address(node.inputs[0]), graph.address(node.outputs[0]),
                              graph.address<std::uint8_t>(node.outputs[1]));
  });
}

void add_max_pool_backward(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  graph.add_kernel(id, [&graph, &node](const LaunchArguments&) {
    kernels::max_pool_backward(
        std::get<kernels::MaxPoolShape>(node.attributes), graph.address(node.inputs[0]),
        graph.address<std::uint8_t>(node.inputs[1]), graph.address(node.outputs[0]));
  });
}

}  // namespace headway::trainer::host
