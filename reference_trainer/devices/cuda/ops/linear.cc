// SPDX-License-Identifier: MIT
// Products of matrices by cuBLASLt (kernels/cuda/driver/product.h).
#include "kernels/cuda/driver/product.h"

#include "kernels/column_sum/launch.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"

namespace headway::trainer::cuda_device {
namespace {

using cuda::Product;
using cuda::ProductShape;
using cuda::cublas_lt::Type;

Type type_of(NumberFormat format) {
  return format == NumberFormat::kFloat16    ? Type::kFp16
         : format == NumberFormat::kBfloat16 ? Type::kBf16
                                             : Type::kFp32;
}

struct Operands {
  ValueId a;
  ValueId b;
  ValueId d;
  ValueId bias = ValueId::none();
};

/// The half format of either operand, which both then have; FP32 without one.
NumberFormat operand_format(const CudaGraph& graph, const Operands& of) {
  return graph.format(of.a) != NumberFormat::kFloat32 ? graph.format(of.a) : graph.format(of.b);
}

/// d = a·b; fills in the types and the bias of `shape`. FP32 operands give FP32; half operands give
/// the result's format.
void add_product(CudaGraph& graph, NodeId id, const Operands& of, ProductShape shape,
                 const char* part = "") {
  const NumberFormat operands = operand_format(graph, of);
  NumberFormat result = graph.format(of.d);
  if (operands != result && result != NumberFormat::kFloat32) result = NumberFormat::kFloat32;
  const Operand a = graph.input(id, of.a, operands);
  const Operand b = graph.input(id, of.b, operands);
  const Operand d = graph.output(id, of.d, result);
  shape.operands = type_of(operands);
  shape.result = type_of(result);
  shape.tf32 = operands == NumberFormat::kFloat32 && graph.tf32(id);
  shape.bias = of.bias.valid();
  const Operand bias = shape.bias ? graph.input(id, of.bias, result) : Operand();
  const auto product = std::make_shared<Product>(*graph.device().libraries().products, shape);
  const Operand workspace =
      graph.scratch(id, static_cast<std::int64_t>(product->workspace_bytes()));
  if (shape.bias) graph.when_bound(id, [=] { product->set_bias(bias.at()); });
  graph.add_kernel(
      id,
      [=](CUstream stream, const LaunchArguments& arguments) {
        product->run(stream, a.at(arguments.slot), b.at(arguments.slot), d.at(), workspace.at());
      },
      part);
}

/// x [rows][in], weights [out][in], y [rows][out].
ProductShape forward_shape(const CudaGraph& graph, ValueId x, ValueId y) {
  ProductShape shape{graph.shape(y)[0], graph.shape(y)[1], graph.shape(x)[1]};
  shape.transpose_b = true;
  return shape;
}

ProductShape weights_shape(const CudaGraph& graph, ValueId dy, ValueId x) {
  ProductShape shape{graph.shape(dy)[1], graph.shape(x)[1], graph.shape(x)[0]};
  shape.transpose_a = true;
  return shape;
}

}  // namespace

void add_linear(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto [x, w, b] = std::tuple{node.inputs[0], node.inputs[1], node.inputs[2]};
  const ValueId y = node.outputs[0];
  add_product(graph, id, {x, w, y, b}, forward_shape(graph, x, y));
}

void add_linear_backward_data(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto [dy, w, dx] = std::tuple{node.inputs[0], node.inputs[1], node.outputs[0]};
  add_product(graph, id, {dy, w, dx}, {graph.shape(dx)[0], graph.shape(dx)[1], graph.shape(dy)[1]});
}

void add_linear_backward_weights(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const ValueId dy = node.inputs[0];
  const ValueId x = node.inputs[1];
  add_product(graph, id, {dy, x, node.outputs[0]}, weights_shape(graph, dy, x), "weights");
  add_column_sum(graph, id, dy, node.outputs[1]);
}

void add_matmul(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto [x, w, y] = std::tuple{node.inputs[0], node.inputs[1], node.outputs[0]};
  add_product(graph, id, {x, w, y}, forward_shape(graph, x, y));
}

void add_matmul_backward_weights(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto [dy, x, dw] = std::tuple{node.inputs[0], node.inputs[1], node.outputs[0]};
  add_product(graph, id, {dy, x, dw}, weights_shape(graph, dy, x));
}

void add_batched_matmul(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const auto& by = std::get<kernels::BatchedMatmul>(node.attributes);
  ProductShape shape{by.m, by.n, by.k, by.groups, by.transpose_a, by.transpose_b};
  add_product(graph, id, {node.inputs[0], node.inputs[1], node.outputs[0]}, shape);
}

}  // namespace headway::trainer::cuda_device
