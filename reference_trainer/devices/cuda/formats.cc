// SPDX-License-Identifier: MIT
// Chooses the number format of each value on the device (compile.h has the rules), and the products
// that may round their operands to TF32.
#include "reference_trainer/devices/cuda/compile.h"
#include "reference_trainer/ops/elementwise.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/ops/optimizer.h"

namespace headway::trainer {
namespace {

/// The format of arrays in memory; TF32 exists in registers only.
NumberFormat in_memory(NumberFormat format) {
  return format == NumberFormat::kTf32 ? NumberFormat::kFloat32 : format;
}

bool is_float_matrix(const Value& value) {
  return value.type == DataType::kFloat32 && value.shape.rank() >= 2;
}

}  // namespace

/// The matrix unit itself rounds its operands, so nodes that only round to TF32 have no kernels
/// (ops/linear.cc has the other part). The readers of their results read the nodes' inputs instead.
/// Nodes and values keep their numbers.
void CudaGraph::skip_tf32_rounding() {
  tf32_.resize(graph_.node_count());
  std::vector<Node> nodes = graph_.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (ValueId& input : nodes[i].inputs) {
      const NodeId producer = graph_.value(input).producer;
      if (!producer.valid()) continue;
      const Node& made = graph_.node(producer);
      for (std::size_t o = 0; o < made.outputs.size(); ++o)
        if (made.outputs[o] == input && ops::result_format(made, o) == NumberFormat::kTf32)
          tf32_[i] = true;
      if (made.op == &ops::kTf32Round) input = made.inputs[0];
    }
  }
  graph_.replace_nodes(std::move(nodes));
}

void CudaGraph::choose_formats() {
  formats_.assign(graph_.value_count(), NumberFormat::kFloat32);
  for (const Node& node : graph_.nodes()) {
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      if (is_float_matrix(graph_.value(node.outputs[o])) && !keeps_fp32(*node.op, o))
        formats_[node.outputs[o].value] = in_memory(ops::result_format(node, o));
    const auto* by = std::get_if<OptimizerAttributes>(&node.attributes);
    if (!by || !by->has_master() || node.op == &ops::kUpdateScale) continue;
    const std::size_t each = operands_per_parameter(*by);
    for (std::size_t i = 0; i + each <= node.inputs.size(); i += each)
      if (is_float_matrix(graph_.value(node.inputs[i])))
        formats_[node.inputs[i].value] = by->format;
  }
  for (std::size_t i = 0; i < graph_.value_count(); ++i)
    if (graph_.values()[i].stored != NumberFormat::kFloat32)
      formats_[i] = in_memory(graph_.values()[i].stored);
  if (!shared_) return;
  for (std::size_t i = 0; i < graph_.value_count(); ++i) {
    const Value& value = graph_.values()[i];
    if (value.role == Role::kParameter || value.role == Role::kState)
      formats_[i] = shared_->format(shared_->graph_.find(value.name));
  }
}

/// Results that kernels always write in FP32: statistics, and sums of many small numbers.
bool CudaGraph::keeps_fp32(const OpDefinition& op, std::size_t output) {
  if (&op == &ops::kLayerNorm) return output >= 1;
  if (&op == &ops::kAddLayerNorm) return output >= 2;
  if (&op == &ops::kAttention) return output == 1;
  return &op == &ops::kEmbeddingBackward;
}

}  // namespace headway::trainer
