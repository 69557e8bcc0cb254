// SPDX-License-Identifier: MIT
// Products of inference by oneDNN, with bias, residual and activation as its post-ops. For
// integers, oneDNN multiplies the sums by a scale for each output channel (its output scales),
// after adding the bias. So the bias is divided by these scales, once the graph's memory is known
// to contain it.
#include "reference_trainer/ops/fused_products.h"
#include "kernels/quantise/op.h"
#include "reference_trainer/devices/host/dnnl_call.h"
#include "reference_trainer/devices/host/ops/geometry.h"
#include "reference_trainer/devices/host/ops/host_ops.h"

namespace headway::trainer::host {
namespace {

using dnnl::memory;

/// Scales of integer products. The first post-op works in units of the residual's scale, if it has
/// one, otherwise of the result's.
struct Scales {
  std::vector<float> product;  ///< of the integer sums, by output channel; converts to real numbers
  float unit = 1;              ///< the unit that the post-ops work in
  float last = 1;              ///< factor of the last post-op
};

Scales scales_of(const FusedProductAttributes& by) {
  Scales scales;
  if (by.is_int8())
    for (float weight : *by.weight_scales) scales.product.push_back(by.input_scale * weight);
  const float result = by.output_scale > 0 ? by.output_scale : 1;
  // An activation other than ReLU works in real numbers.
  const bool in_units = by.activation != Activation::kGelu;
  scales.unit = by.residual_scale > 0 && by.residual ? by.residual_scale
                : in_units && !by.residual           ? result
                                                     : 1;
  scales.last = scales.unit / result;
  return scales;
}

dnnl::primitive_attr attributes_of(const HostGraph& graph, const Node& node, const Scales& scales) {
  const FusedProductAttributes& by = ops::fused_product(node);
  dnnl::primitive_attr attributes = DnnlCall::attributes();
  if (by.is_int8()) {
    std::vector<float> output;
    for (float scale : scales.product) output.push_back(scale / scales.unit);
    constexpr int kByChannel = 1 << 1;
    attributes.set_output_scales(kByChannel, output);
  }
  dnnl::post_ops after;
  if (by.residual)
    after.append_binary(dnnl::algorithm::binary_add,
                        graph.layout(node.inputs[ops::kFusedResidual]));
  // An integer residual and a GELU: convert back to real numbers before the GELU.
  const bool rescale_first = by.activation == Activation::kGelu && scales.unit != 1;
  if (rescale_first) after.append_eltwise(1, dnnl::algorithm::eltwise_linear, scales.unit, 0);
  if (by.activation == Activation::kRelu)
    after.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  if (by.activation == Activation::kGelu)
    after.append_eltwise(1, dnnl::algorithm::eltwise_gelu_tanh, 0, 0);
  const float last = rescale_first ? scales.last / scales.unit : scales.last;
  if (last != 1) after.append_eltwise(1, dnnl::algorithm::eltwise_linear, last, 0);
  attributes.set_post_ops(after);
  return attributes;
}

/// Layout of weights: the library's choice, unless another graph that shares them has chosen one.
memory::desc any_layout(const HostGraph& graph, ValueId weights) {
  const memory::desc of = graph.layout(weights);
  if (graph.has_layout(weights)) return of;
  return {of.dims(), of.data_type(), memory::format_tag::any};
}

/// Adds the kernel of a plan whose weights have no layout yet.
template <class Primitive, class Plan>
void add_product(HostGraph& graph, NodeId id, const Plan& plan, const Scales& scales) {
  const Node& node = graph.graph().node(id);
  const ValueId bias = node.inputs[ops::kFusedBias];
  graph.set_layout(node.inputs[1], plan.weights_desc());
  std::vector<DnnlCall::Operand> operands = {
      {DNNL_ARG_SRC, node.inputs[0], plan.src_desc()},
      {DNNL_ARG_WEIGHTS, node.inputs[1], plan.weights_desc()},
      {DNNL_ARG_DST, node.outputs[0], plan.dst_desc()}};
  const FusedProductAttributes& by = ops::fused_product(node);
  if (by.residual) {
    const ValueId residual = node.inputs[ops::kFusedResidual];
    operands.push_back(
        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1, residual, graph.layout(residual)});
  }
  if (!by.is_int8()) {
    operands.push_back({DNNL_ARG_BIAS, bias, plan.bias_desc()});
    auto call = DnnlCall::make(graph, Primitive(plan), std::move(operands), plan.scratchpad_desc());
    graph.add_kernel(id, [call](const LaunchArguments& a) { call->run(a.slot); });
    return;
  }
  auto divided = std::make_shared<std::vector<float>>(scales.product.size());
  auto call = DnnlCall::make(graph, Primitive(plan), std::move(operands), plan.scratchpad_desc());
  call->lend(DNNL_ARG_BIAS, plan.bias_desc(), divided->data());
  graph.add_kernel(
      id, [&graph, call, divided, bias, product = scales.product](const LaunchArguments& a) {
        const float* real = graph.address(bias);
        for (std::size_t i = 0; i < product.size(); ++i) (*divided)[i] = real[i] / product[i];
        call->run(a.slot);
      });
}

}  // namespace

void add_conv2d_fused(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto [x, w, b] = std::tuple{node.inputs[0], node.inputs[1], node.inputs[2]};
  const ValueId y = node.outputs[0];
  const Scales scales = scales_of(ops::fused_product(node));
  const ConvolutionAttributes& by = ops::fused_product(node).convolution;
  const Geometry g = geometry_of(graph, by, x, w, y);
  const dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_inference,
                                             dnnl::algorithm::convolution_direct, graph.layout(x),
                                             any_layout(graph, w), graph.layout(b), graph.layout(y),
                                             g.strides, g.padding_left, g.padding_right);
  const dnnl::convolution_forward::primitive_desc plan(desc, attributes_of(graph, node, scales),
                                                       graph.engine());
  add_product<dnnl::convolution_forward>(graph, id, plan, scales);
}

void add_linear_fused(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto [x, w, b] = std::tuple{node.inputs[0], node.inputs[1], node.inputs[2]};
  const ValueId y = node.outputs[0];
  const Scales scales = scales_of(ops::fused_product(node));
  const dnnl::inner_product_forward::desc desc(dnnl::prop_kind::forward_inference, graph.layout(x),
                                               any_layout(graph, w), graph.layout(b),
                                               graph.layout(y));
  const dnnl::inner_product_forward::primitive_desc plan(desc, attributes_of(graph, node, scales),
                                                         graph.engine());
  add_product<dnnl::inner_product_forward>(graph, id, plan, scales);
}

void add_quantise(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const Shape& from = graph.graph().value(node.inputs[0]).shape;
  const Shape& to = graph.graph().value(node.outputs[0]).shape;
  const kernels::QuantiseShape shape = {from.elements() / from.last(), from.last(), to.last(),
                                        std::get<QuantiseAttributes>(node.attributes).scale};
  graph.add_kernel(id, [&graph, &node, shape](const LaunchArguments& a) {
    kernels::quantise(shape, graph.address(node.inputs[0], a.slot),
                      graph.address<std::int8_t>(node.outputs[0]));
  });
}

}  // namespace headway::trainer::host
