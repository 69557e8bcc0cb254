// SPDX-License-Identifier: MIT
// LSTM layers as one kernel, or as a product and a cell for every time step.
#include "kernels/lstm/launch.h"

#include "kernels/cuda/driver/product.h"
#include "kernels/layout/launch.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"

namespace headway::trainer::cuda_device {
namespace {

using cuda::Product;
using cuda::ProductShape;
using cuda::cublas_lt::Type;
using kernels::LstmShape;
using kernels::cuda::LstmArrays;

constexpr std::int64_t kFloat = sizeof(float);

Type type_of(NumberFormat format) {
  return format == NumberFormat::kFloat16    ? Type::kFp16
         : format == NumberFormat::kBfloat16 ? Type::kBf16
                                             : Type::kFp32;
}

/// Rows of one step in an array of the format.
struct StepRows {
  std::int64_t bytes = 0;
  const void* at(const Operand& array, std::int64_t step) const {
    return array.at<std::byte>() + step * bytes;
  }
};
StepRows step_rows(NumberFormat format, std::int64_t elements) {
  return {elements * kernels::bits_of(format) / 8};
}

const LstmAttributes& attributes(const Node& node) {
  return std::get<LstmAttributes>(node.attributes);
}

/// A number on the device: how many steps the batch uses, computed from its tokens.
Operand add_used(CudaGraph& graph, NodeId id, std::size_t operand) {
  const Node& node = graph.node(id);
  const LstmAttributes& by = attributes(node);
  const Operand used = graph.scratch(id, kFloat);
  const Operand tokens = graph.operand(node.inputs[operand]);
  graph.add_launches(
      id,
      [=, &by](int slot) -> Launches {
        return {kernels::cuda::lstm_used(by.shape, tokens.at<std::int32_t>(slot) + by.first_token,
                                         used.at<std::int32_t>())};
      },
      "steps", Work{by.shape.steps * by.shape.rows, kFloat * by.shape.steps * by.shape.rows});
  return used;
}

/// Products of cuBLASLt need addresses that are multiples of 16 bytes, and so does each step's
/// rows.
void require_products(const CudaGraph& graph, NodeId id, NumberFormat format, const LstmShape& s) {
  if (s.rows * s.hidden * kernels::bits_of(format) / 8 % 16 != 0)
    graph.refuse(
        id,
        "the rows of a step are not a multiple of 16 bytes; use --rnn persistent or another batch");
}

std::shared_ptr<const Product> step_product(CudaGraph& graph, NodeId id, NumberFormat format,
                                            ProductShape shape) {
  shape.operands = type_of(format);
  shape.result = Type::kFp32;
  shape.tf32 = format == NumberFormat::kFloat32 && graph.tf32(id);
  return std::make_shared<const Product>(*graph.device().libraries().products, shape);
}

void require_narrow(const CudaGraph& graph, NodeId id, const LstmShape& s) {
  if (s.hidden > kernels::cuda::kMostLstmHidden)
    graph.refuse(id, "a persistent layer is 2048 wide at most; use --rnn standard");
}

/// The arrays of both directions: the forward form writes them, the backward form reads them.
LstmArrays forward_arrays(const CudaGraph& graph, const Node& node) {
  LstmArrays a;
  a.h = graph.address(node.outputs[0]);
  a.gates = graph.address(node.outputs[1]);
  a.cell = graph.address(node.outputs[2]);
  a.before = graph.address(node.outputs[3]);
  return a;
}

void add_forward_layer(CudaGraph& graph, NodeId id, NumberFormat format, const Operand& input,
                       const Operand& used) {
  const Node& node = graph.node(id);
  const LstmShape& s = attributes(node).shape;
  require_narrow(graph, id, s);
  const Operand weights = graph.input(id, node.inputs[1], format);
  const Operand packed =
      graph.scratch(id, s.gate_columns() * s.hidden * kernels::bits_of(format) / 8);
  graph.add_launches(
      id,
      [=, &graph, &node, &s](int) -> Launches {
        LstmArrays a = forward_arrays(graph, node);
        a.used = used.at<std::int32_t>();
        a.input = input.at();
        a.weights = packed.at();
        return {kernels::cuda::nhwc_to_nchw(graph.limits(), format, 1, s.hidden, s.gate_columns(),
                                            weights.at(), packed.at()),
                kernels::cuda::lstm_forward(graph.limits(), format, s, a)};
      },
      "persistent_lstm");
}

void add_forward_steps(CudaGraph& graph, NodeId id, NumberFormat format, const Operand& input,
                       const Operand& used) {
  const Node& node = graph.node(id);
  const LstmShape& s = attributes(node).shape;
  require_products(graph, id, format, s);
  const Operand weights = graph.input(id, node.inputs[1], format);
  ProductShape shape{s.rows, s.gate_columns(), s.hidden};
  shape.transpose_b = true;
  const auto product = step_product(graph, id, format, shape);
  const Operand workspace =
      graph.scratch(id, static_cast<std::int64_t>(product->workspace_bytes()));
  const Operand z = graph.scratch(id, kFloat * s.rows * s.gate_columns());
  const Operand h = graph.operand(node.outputs[0]);
  const StepRows rows = step_rows(format, s.rows * s.hidden);
  for (std::int64_t step = 0; step < s.steps; ++step) {
    if (step > 0)
      graph.add_kernel(
          id,
          [=](CUstream stream, const LaunchArguments&) {
            product->run(stream, rows.at(h, step - 1), weights.at(), z.at(), workspace.at());
          },
          "gemm", kernels::lstm_product_work(s));
    graph.add_launches(
        id,
        [=, &graph, &node, &s](int) -> Launches {
          LstmArrays a = forward_arrays(graph, node);
          a.used = used.at<std::int32_t>();
          a.input = input.at();
          a.product = z.at<float>();
          return {kernels::cuda::lstm_cell_forward(graph.limits(), format, s, step, a)};
        },
        "lstm_cell", kernels::lstm_cell_work(s));
  }
}

/// Operands of the backward form, in its format.
struct BackwardOperands {
  Operand gates, cell, dh, weights, used;
};
LstmArrays backward_arrays(const CudaGraph& graph, const Node& node, const BackwardOperands& of) {
  LstmArrays a;
  a.gates = of.gates.at();
  a.cell = of.cell.at();
  a.dh = of.dh.at();
  a.used = of.used.at<std::int32_t>();
  a.dgates = graph.address(node.outputs[0]);
  return a;
}

void add_backward_steps(CudaGraph& graph, NodeId id, NumberFormat format,
                        const BackwardOperands& of) {
  const Node& node = graph.node(id);
  const LstmShape& s = attributes(node).shape;
  require_products(graph, id, format, s);
  const auto product = step_product(graph, id, format, {s.rows, s.hidden, s.gate_columns()});
  const Operand workspace =
      graph.scratch(id, static_cast<std::int64_t>(product->workspace_bytes()));
  const Operand dh_later = graph.scratch(id, kFloat * s.rows * s.hidden);
  const Operand dcell = graph.scratch(id, kFloat * s.rows * s.hidden);
  const Operand dgates = graph.operand(node.outputs[0]);
  const StepRows rows = step_rows(format, s.rows * s.gate_columns());
  for (std::int64_t step = s.steps; step-- > 0;) {
    graph.add_launches(
        id,
        [=, &graph, &node, &s](int) -> Launches {
          LstmArrays a = backward_arrays(graph, node, of);
          a.dh_later = dh_later.at<float>();
          a.dcell = dcell.at<float>();
          return {kernels::cuda::lstm_cell_backward(graph.limits(), format, s, step, a)};
        },
        "lstm_cell", kernels::lstm_cell_work(s));
    if (step == 0) continue;  // step 0 has no earlier step
    graph.add_kernel(
        id,
        [=](CUstream stream, const LaunchArguments&) {
          product->run(stream, rows.at(dgates, step), of.weights.at(), dh_later.at(),
                       workspace.at());
        },
        "gemm", kernels::lstm_product_work(s));
  }
}

}  // namespace

void add_lstm(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.outputs[0]);
  const Operand input = graph.input(id, node.inputs[0], format);
  const Operand used = add_used(graph, id, 2);
  if (attributes(node).persistent)
    add_forward_layer(graph, id, format, input, used);
  else
    add_forward_steps(graph, id, format, input, used);
}

void add_lstm_backward(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const NumberFormat format = graph.format(node.outputs[0]);
  BackwardOperands of;
  of.gates = graph.input(id, node.inputs[0], format);
  of.cell = graph.input(id, node.inputs[1], format);
  of.dh = graph.input(id, node.inputs[2], format);
  of.weights = graph.input(id, node.inputs[3], format);
  of.used = add_used(graph, id, 4);
  if (!attributes(node).persistent) return add_backward_steps(graph, id, format, of);
  const LstmShape& s = attributes(node).shape;
  require_narrow(graph, id, s);
  graph.add_launches(
      id,
      [=, &graph, &node, &s](int) -> Launches {
        LstmArrays a = backward_arrays(graph, node, of);
        a.weights = of.weights.at();
        return {kernels::cuda::lstm_backward(graph.limits(), format, s, a)};
      },
      "persistent_lstm");
}

}  // namespace headway::trainer::cuda_device
