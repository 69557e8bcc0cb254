// SPDX-License-Identifier: MIT
// Elementwise ops and the reductions along rows that belong to them (mathematics in
// kernels/loops/row_op.h). An operand may be full, one per row [N,1] or one per column [C].
#include "reference_trainer/ops/elementwise.h"

#include <algorithm>
#include <array>

#include "kernels/column_sum/op.h"
#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

using kernels::RowKind;
using kernels::RowOp;

Work work(const Graph& graph, const Node& node) {
  return {row_program(graph, node).flops(), operand_bytes(graph, node)};
}

Work column_sum_work(const Graph& graph, const Node& node) {
  const RowsAndColumns over = iteration(graph, node);
  return kernels::column_sum_work(over.rows, over.columns);
}

std::int64_t rows_of(const Shape& shape) {
  return shape.elements() / shape.last();
}

/// Adds a backward node of one elementwise instruction; its result has the shape of `like`.
ValueId emit_row(Gradients& gradients, const OpDefinition& op, NodeId id,
                 std::vector<ValueId> inputs, ValueId like, RowAttributes attributes) {
  return gradients.emit(op, id, std::move(inputs), {like}, attributes)[0];
}

/// Reduces `d`, which has the full shape, to the shape of `operand`, which was broadcast.
void accumulate_reduced(Gradients& gradients, NodeId id, ValueId operand, ValueId d) {
  if (!gradients.needs_gradient(operand)) return;
  const RowKind kind = row_kind(gradients.graph(), operand,
                                iteration(gradients.graph(), gradients.graph().node(id)));
  if (kind == RowKind::kPerColumn)
    d = gradients.emit(kColumnSum, id, {d}, {operand}, NoAttributes{})[0];
  if (kind == RowKind::kPerRow)
    d = emit_row(gradients, kRowSum, id, {d}, operand, {RowOp::kRowSum, 0, 0, {}});
  gradients.accumulate(id, operand, d);
}

void differentiate_bias_add(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId dy = gradients.of(node.outputs[0]);
  for (ValueId input : node.inputs) accumulate_reduced(gradients, id, input, dy);
}

void differentiate_sub(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId dy = gradients.of(node.outputs[0]);
  accumulate_reduced(gradients, id, node.inputs[0], dy);
  if (!gradients.needs_gradient(node.inputs[1])) return;
  const ValueId minus =
      emit_row(gradients, kScale, id, {dy}, node.outputs[0], {RowOp::kScale, -1, 0, {}});
  accumulate_reduced(gradients, id, node.inputs[1], minus);
}

void differentiate_mul(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId dy = gradients.of(node.outputs[0]);
  for (std::size_t i = 0; i < 2; ++i) {
    if (!gradients.needs_gradient(node.inputs[i])) continue;
    const ValueId d = emit_row(gradients, kMul, id, {dy, node.inputs[1 - i]}, node.outputs[0],
                               {RowOp::kMultiply, 0, 0, {}});
    accumulate_reduced(gradients, id, node.inputs[i], d);
  }
}

/// For ops whose gradient is the same op on dy.
void differentiate_itself(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const OpDefinition& op = node.op == &kDropout ? kDropoutBackward : *node.op;
  const ValueId d = emit_row(gradients, op, id, {gradients.of(node.outputs[0])}, node.inputs[0],
                             std::get<RowAttributes>(node.attributes));
  gradients.accumulate(id, node.inputs[0], d);
}

/// The gradient from x and dy.
void differentiate_gelu(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const ValueId d =
      emit_row(gradients, kGeluBackward, id, {node.inputs[0], gradients.of(node.outputs[0])},
               node.inputs[0], {RowOp::kGeluBackward, 0, 0, {}});
  gradients.accumulate(id, node.inputs[0], d);
}

/// The gradient from y and dy.
void differentiate_by_result(Gradients& gradients, NodeId id, const OpDefinition& op, RowOp row) {
  const Node node = gradients.graph().node(id);
  const ValueId y = node.outputs[0];
  const ValueId d =
      emit_row(gradients, op, id, {y, gradients.of(y)}, node.inputs[0], {row, 0, 0, {}});
  gradients.accumulate(id, node.inputs[0], d);
}

void differentiate_rsqrt(Gradients& gradients, NodeId id) {
  differentiate_by_result(gradients, id, kRsqrtBackward, RowOp::kRsqrtBackward);
}

void differentiate_tanh(Gradients& gradients, NodeId id) {
  differentiate_by_result(gradients, id, kTanhBackward, RowOp::kTanhBackward);
}

void differentiate_row_mean(Gradients& gradients, NodeId id) {
  const Node node = gradients.graph().node(id);
  const auto columns = static_cast<float>(gradients.graph().value(node.inputs[0]).shape.last());
  const ValueId d = emit_row(gradients, kSpread, id, {gradients.of(node.outputs[0])},
                             node.inputs[0], {RowOp::kSpread, 1 / columns, 0, {}});
  gradients.accumulate(id, node.inputs[0], d);
}

ValueId row_op(Graph& graph, const OpDefinition& op, const std::string& name,
               std::vector<ValueId> inputs, Shape shape, RowAttributes attributes) {
  return add_forward(graph, op, name, std::move(inputs), std::move(shape), attributes);
}

}  // namespace

const OpDefinition kBiasAdd{"bias_add", "x, bias -> x + bias in every row", work,
                            differentiate_bias_add};
const OpDefinition kSub{"sub", "a, b -> a - b", work, differentiate_sub};
const OpDefinition kMul{"mul", "a, b -> a · b", work, differentiate_mul};
const OpDefinition kScale{"scale", "x -> constant · x", work, differentiate_itself};
const OpDefinition kGelu{"gelu", "x -> gelu(x)", work, differentiate_gelu};
const OpDefinition kGeluBackward{"gelu_backward", "x, dy -> dx", work};
const OpDefinition kTanh{"tanh", "x -> tanh(x)", work, differentiate_tanh};
const OpDefinition kTanhBackward{"tanh_backward", "y, dy -> dx", work};
const OpDefinition kDropout{"dropout", "x -> x or 0, at random", work, differentiate_itself};
const OpDefinition kDropoutBackward{"dropout_backward", "dy -> dy or 0, as forward", work};
const OpDefinition kRsqrt{"rsqrt", "x -> 1 / sqrt(x + epsilon)", work, differentiate_rsqrt};
const OpDefinition kRsqrtBackward{"rsqrt_backward", "y, dy -> dx", work};
const OpDefinition kRowMean{"row_mean", "x -> mean of each row", work, differentiate_row_mean};
const OpDefinition kRowSum{"row_sum", "x -> sum of each row", work};
const OpDefinition kSpread{"spread", "one per row -> constant · it in every column", work};
const OpDefinition kCast{"cast", "x -> x rounded to another number format", work};
const OpDefinition kTf32Round{"tf32_round", "x -> x as the matrix unit reads it", work};
const OpDefinition kColumnSum{"column_sum", "x -> sum of each column", column_sum_work};
const OpDefinition kCluster{"cluster", "several elementwise ops in one pass", work};

std::optional<kernels::RowInstruction> row_instruction(const Node& node) {
  kernels::RowInstruction by;
  by.b = node.inputs.size() > 1 ? 1 : -1;
  if (node.op == &kAdd) return by;
  if (node.op == &kRelu || node.op == &kReluBackward) {
    by.op = node.op == &kRelu ? RowOp::kRelu : RowOp::kReluBackward;
    return by;
  }
  const auto* attributes = std::get_if<RowAttributes>(&node.attributes);
  if (!attributes) return std::nullopt;
  by.op = attributes->op;
  by.constant = attributes->constant;
  by.key = attributes->key;
  by.format = attributes->format;
  return by;
}

RowsAndColumns iteration(const Graph& graph, const Node& node) {
  const Shape* largest = nullptr;
  for (const auto* list : {&node.inputs, &node.outputs})
    for (ValueId id : *list)
      if (!largest || graph.value(id).shape.elements() > largest->elements())
        largest = &graph.value(id).shape;
  HEADWAY_INVARIANT(largest != nullptr);
  return {rows_of(*largest), largest->last()};
}

RowKind row_kind(const Graph& graph, ValueId value, RowsAndColumns over) {
  const Shape& shape = graph.value(value).shape;
  if (shape.elements() == over.rows * over.columns) return RowKind::kFull;
  if (shape.rank() == 2 && shape[0] == over.rows && shape[1] == 1) return RowKind::kPerRow;
  if (shape.elements() == over.columns) return RowKind::kPerColumn;
  fail_internal("Value '{}' of shape {} does not broadcast to {}x{}.", graph.value(value).name,
                shape.text(), over.rows, over.columns);
}

kernels::RowProgram row_program(const Graph& graph, const Node& node) {
  if (const auto* cluster = std::get_if<kernels::RowProgram>(&node.attributes)) return *cluster;
  const RowsAndColumns over = iteration(graph, node);
  kernels::RowProgram program;
  program.rows = over.rows;
  program.columns = over.columns;
  for (ValueId input : node.inputs) program.inputs.push_back(row_kind(graph, input, over));
  const auto instruction = row_instruction(node);
  HEADWAY_INVARIANT(instruction.has_value());
  program.instructions.push_back(*instruction);
  program.outputs.push_back(static_cast<int>(node.inputs.size()));
  return program;
}

ValueId bias_add(Graph& graph, const std::string& name, ValueId x, ValueId bias) {
  require(graph.value(bias).shape == Shape{graph.value(x).shape.last()}, kBiasAdd, name,
          "one bias per column", graph.value(bias).shape);
  return row_op(graph, kBiasAdd, name, {x, bias}, graph.value(x).shape, {RowOp::kAdd, 0, 0, {}});
}

ValueId sub(Graph& graph, const std::string& name, ValueId a, ValueId b) {
  return row_op(graph, kSub, name, {a, b}, graph.value(a).shape, {RowOp::kSubtract, 0, 0, {}});
}

ValueId mul(Graph& graph, const std::string& name, ValueId a, ValueId b) {
  return row_op(graph, kMul, name, {a, b}, graph.value(a).shape, {RowOp::kMultiply, 0, 0, {}});
}

ValueId scale(Graph& graph, const std::string& name, ValueId x, float factor) {
  return row_op(graph, kScale, name, {x}, graph.value(x).shape, {RowOp::kScale, factor, 0, {}});
}

ValueId gelu(Graph& graph, const std::string& name, ValueId x) {
  return row_op(graph, kGelu, name, {x}, graph.value(x).shape, {RowOp::kGelu, 0, 0, {}});
}

ValueId dropout(Graph& graph, const std::string& name, ValueId x, float rate, int part) {
  const auto key =
      static_cast<std::uint32_t>(graph.node_count()) + (static_cast<std::uint32_t>(part) << 20U);
  return row_op(graph, kDropout, name, {x}, graph.value(x).shape, {RowOp::kDropout, rate, key, {}});
}

ValueId rsqrt(Graph& graph, const std::string& name, ValueId x, float epsilon) {
  return row_op(graph, kRsqrt, name, {x}, graph.value(x).shape, {RowOp::kRsqrt, epsilon, 0, {}});
}

ValueId row_mean(Graph& graph, const std::string& name, ValueId x) {
  const std::int64_t rows = rows_of(graph.value(x).shape);
  return row_op(graph, kRowMean, name, {x}, {rows, 1}, {RowOp::kRowMean, 0, 0, {}});
}

/// A cluster's program rounds its own results; an output whose last instruction does not round is
/// FP32.
kernels::NumberFormat result_format(const Node& node, std::size_t output) {
  using kernels::NumberFormat;
  if (const auto* program = std::get_if<kernels::RowProgram>(&node.attributes)) {
    const auto number = static_cast<std::size_t>(program->outputs[output]) - program->inputs.size();
    const kernels::RowInstruction& by = program->instructions[number];
    return by.op == kernels::RowOp::kRound ? by.format : NumberFormat::kFloat32;
  }
  if (node.op == &kCast || node.op == &kTf32Round)
    return std::get<RowAttributes>(node.attributes).format;
  return node.results;
}

}  // namespace headway::trainer::ops
