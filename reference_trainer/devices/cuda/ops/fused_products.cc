// SPDX-License-Identifier: MIT
// Products of inference. cuBLASLt or cuDNN multiplies (integers give exact 32-bit sums); one kernel
// adds bias and residual, activates and quantises (kernels/quantise/launch.h). The scales of
// weights times that of the input form an array, made when the first kernel is bound.
#include "kernels/quantise/launch.h"

#include "kernels/cuda/cudnn/convolution.h"
#include "kernels/cuda/driver/memory.h"
#include "kernels/cuda/driver/product.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"
#include "reference_trainer/ops/fused_products.h"

namespace headway::trainer::cuda_device {
namespace {

using cuda::cublas_lt::Type;
using kernels::EpilogueActivation;
using kernels::cuda::Element;

Element element_of(const CudaGraph& graph, ValueId value) {
  return graph.graph().value(value).type == DataType::kInt8
             ? Element::kInt8
             : kernels::cuda::element_of(graph.format(value));
}

/// The operands of a node's product, and the array in which the library leaves the sums for the
/// epilogue.
struct Operands {
  bool int8 = false;
  NumberFormat format = NumberFormat::kFloat32;  ///< of operands that are not integers
  Operand x, w, product;
  std::shared_ptr<Memory> factors;  ///< for integers; the kernels keep it alive
};

/// The half format of x or of the weights, which all three then have.
NumberFormat product_format(const CudaGraph& graph, const Node& node) {
  for (const ValueId value : {node.inputs[0], node.inputs[1]})
    if (graph.format(value) != NumberFormat::kFloat32) return graph.format(value);
  return NumberFormat::kFloat32;
}

/// The factors of the sums, by output channel.
std::shared_ptr<Memory> factors_of(const CudaGraph& graph, const FusedProductAttributes& by) {
  std::vector<float> host;
  for (const float weight : *by.weight_scales) host.push_back(by.input_scale * weight);
  const std::size_t bytes = host.size() * sizeof(float);
  auto factors = std::make_shared<Memory>(
      graph.device().allocate(static_cast<std::int64_t>(bytes), MemoryKind::kDevice));
  cuda::upload(graph.device().driver(), reinterpret_cast<CUdeviceptr>(factors->view().address),
               host.data(), bytes);
  return factors;
}

Operands operands_of(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  Operands of;
  of.int8 = ops::fused_product(node).is_int8();
  const ValueId y = node.outputs[0];
  if (of.int8) {
    of.x = graph.operand(node.inputs[0]);
    of.w = graph.operand(node.inputs[1]);
    of.product = graph.scratch(id, graph.shape(y).elements() * std::int64_t{4});
    of.factors = factors_of(graph, ops::fused_product(node));
    return of;
  }
  of.format = product_format(graph, node);
  of.x = graph.input(id, node.inputs[0], of.format);
  of.w = graph.input(id, node.inputs[1], of.format);
  of.product = graph.format(y) == of.format
                   ? graph.operand(y)
                   : graph.scratch(id, graph.shape(y).elements() * kernels::bits_of(of.format) / 8);
  return of;
}

EpilogueActivation activation_of(Activation activation) {
  return activation == Activation::kRelu   ? EpilogueActivation::kRelu
         : activation == Activation::kGelu ? EpilogueActivation::kGelu
                                           : EpilogueActivation::kNone;
}

void add_epilogue(CudaGraph& graph, NodeId id, const Operands& of) {
  const Node& node = graph.node(id);
  const FusedProductAttributes& by = ops::fused_product(node);
  const ValueId y = node.outputs[0];
  const Shape& shape = graph.shape(y);
  kernels::ProductEpilogue ends{shape.elements() / shape.last(), shape.last(),
                                activation_of(by.activation)};
  if (by.residual_scale > 0) ends.residual_factor = by.residual_scale;
  if (by.output_scale > 0) ends.inverse_scale = 1 / by.output_scale;
  const Element product_type = of.int8 ? Element::kInt32 : kernels::cuda::element_of(of.format);
  const float* const factors = of.factors ? of.factors->as<float>() : nullptr;
  const Operand bias = graph.operand(node.inputs[ops::kFusedBias]);
  const ValueId residual = by.residual ? node.inputs[ops::kFusedResidual] : ValueId::none();
  const Operand added = residual.valid() ? graph.operand(residual) : Operand();
  const Element added_type = residual.valid() ? element_of(graph, residual) : Element::kNone;
  const Element result_type = element_of(graph, y);
  const Operand result = graph.operand(y);
  graph.add_launches(
      id,
      [=, &graph](int) -> Launches {
        kernels::cuda::EpilogueArrays arrays;
        arrays.x = of.product.at();
        arrays.x_type = product_type;
        arrays.factors = factors;
        arrays.bias = bias.at<float>();
        arrays.residual = added.at();
        arrays.residual_type = added_type;
        arrays.y = result.at();
        arrays.y_type = result_type;
        return {kernels::cuda::product_epilogue(graph.limits(), ends, arrays)};
      },
      "epilogue", Work{4 * shape.elements(), 8 * shape.elements()});
}

Type type_of(NumberFormat format) {
  return format == NumberFormat::kFloat16    ? Type::kFp16
         : format == NumberFormat::kBfloat16 ? Type::kBf16
                                             : Type::kFp32;
}

}  // namespace

void add_linear_fused(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Operands of = operands_of(graph, id);
  const Shape& x = graph.shape(node.inputs[0]);
  cuda::ProductShape shape{x[0], graph.shape(node.outputs[0])[1], x[1]};
  shape.transpose_b = true;
  shape.operands = of.int8 ? Type::kInt8 : type_of(of.format);
  shape.result = of.int8 ? Type::kInt32 : shape.operands;
  shape.tf32 = shape.operands == Type::kFp32 && graph.tf32(id);
  const auto product = std::make_shared<cuda::Product>(*graph.device().libraries().products, shape);
  const Operand workspace =
      graph.scratch(id, static_cast<std::int64_t>(product->workspace_bytes()));
  graph.add_kernel(
      id,
      [=, kept = of.factors](CUstream stream, const LaunchArguments& arguments) {
        product->run(stream, of.x.at(arguments.slot), of.w.at(), of.product.at(), workspace.at());
      },
      "product");
  add_epilogue(graph, id, of);
}

void add_conv2d_fused(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Operands of = operands_of(graph, id);
  const ConvolutionAttributes& by = ops::fused_product(node).convolution;
  const Shape& x = graph.shape(node.inputs[0]);
  const Shape& w = graph.shape(node.inputs[1]);
  cuda::ConvolutionShape shape{x[0], x[1], x[2], x[3], w[0], w[2], by.stride, by.padding};
  shape.int8 = of.int8;
  const NumberFormat format =
      of.format == NumberFormat::kFloat32 && graph.tf32(id) ? NumberFormat::kTf32 : of.format;
  const auto plan = std::make_shared<const cuda::ConvolutionPlan>(
      graph.device().convolutions(), cuda::ConvolutionForm::kForward, format, shape);
  const Operand workspace = graph.scratch(id, plan->workspace_bytes());
  const bool reads_batch = graph.graph().value(node.inputs[0]).role == Role::kInput;
  const auto bound = std::make_shared<std::vector<cuda::CudnnDescriptor>>();
  graph.when_bound(id, [=, slots = reads_batch ? graph.slots() : 1] {
    bound->clear();
    for (int slot = 0; slot < slots; ++slot)
      bound->push_back(plan->bind({of.x.at(slot), of.w.at(), of.product.at(), workspace.at()}));
  });
  graph.add_kernel(
      id,
      [=, kept = of.factors](CUstream stream, const LaunchArguments& arguments) {
        plan->run(stream, (*bound)[reads_batch ? static_cast<std::size_t>(arguments.slot) : 0]);
      },
      "product");
  add_epilogue(graph, id, of);
}

void add_quantise(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const ValueId x = node.inputs[0];
  const Shape& from = graph.shape(x);
  const kernels::QuantiseShape shape = {from.elements() / from.last(), from.last(),
                                        graph.shape(node.outputs[0]).last(),
                                        std::get<QuantiseAttributes>(node.attributes).scale};
  const NumberFormat format = graph.format(x);
  const Operand source = graph.operand(x);
  const Operand to = graph.operand(node.outputs[0]);
  graph.add_launches(id, [=, &graph](int slot) -> Launches {
    return {kernels::cuda::quantise(graph.limits(), format, shape, source.at(slot),
                                    to.at<std::int8_t>())};
  });
}

}  // namespace headway::trainer::cuda_device
