// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/sim/kernel_parts.h"

#include <algorithm>
#include <array>

#include "kernels/adam/op.h"
#include "kernels/lstm/op.h"
#include "kernels/sgd_momentum/op.h"
#include "kernels/trust_ratio/op.h"
#include "reference_trainer/ops/elementwise.h"
#include "reference_trainer/ops/op.h"
#include "reference_trainer/ops/optimizer.h"
#include "reference_trainer/passes/apply_precision.h"

namespace headway::trainer::sim {
namespace {

using kernels::NumberFormat;

bool is_half(NumberFormat format) {
  return format == NumberFormat::kFloat16 || format == NumberFormat::kBfloat16;
}

/// The number of elements of the parameters that a node updates.
std::int64_t updated(const Graph& graph, const Node& node, const OptimizerAttributes& by) {
  const std::size_t each = operands_per_parameter(by);
  std::int64_t count = 0;
  for (std::size_t i = 0; i + each <= node.inputs.size(); i += each)
    count += graph.value(node.inputs[i]).shape.elements();
  return count;
}

std::vector<KernelPart> update_parts(const Graph& graph, const Node& node,
                                     const OptimizerAttributes& by) {
  const std::int64_t count = updated(graph, node, by);
  const bool fused = by.fusion != OptimizerFusion::kOff;
  switch (by.kind) {
    case OptimizerKind::kSgd:
      if (fused) break;
      return {{"decay", kernels::sgd_decay_work(count)},
              {"scale", kernels::sgd_scale_work(count)},
              {"accumulate", kernels::sgd_accumulate_work(count)},
              {"apply", kernels::sgd_apply_work(count)}};
    case OptimizerKind::kAdam: {
      if (fused) break;
      static constexpr std::array<std::string_view, kernels::kAdamPasses> kNames = {
          "mean scale", "mean add", "square scale", "square add", "size", "decay", "apply"};
      std::vector<KernelPart> parts;
      for (int part = 0; part < kernels::kAdamPasses; ++part)
        parts.push_back(
            {kNames[static_cast<std::size_t>(part)], kernels::adam_pass_work(part, count)});
      return parts;
    }
    case OptimizerKind::kLamb:
      return {{"direction", kernels::lamb_directions_work(count)},
              {"norms", kernels::squared_norm_work(2 * count)},
              {"apply", kernels::lamb_apply_work(count)}};
    case OptimizerKind::kLars:
      return {{"norms", kernels::squared_norm_work(2 * count)},
              {"apply", kernels::lars_apply_work(count)}};
  }
  return {{"", node.op->work(graph, node)}};
}

std::vector<KernelPart> lstm_parts(const Graph& graph, const Node& node, const LstmAttributes& by) {
  if (by.persistent) return {{"persistent_lstm", node.op->work(graph, node)}};
  const KernelPart product = {"gemm", kernels::lstm_product_work(by.shape)};
  const KernelPart cell = {"lstm_cell", kernels::lstm_cell_work(by.shape)};
  const bool backward = node.op == &ops::kLstmBackward;
  std::vector<KernelPart> parts;
  const std::int64_t steps = by.shape.steps;
  auto add = [&](KernelPart part, std::int64_t step) {
    part.time_step = step;
    part.time_steps = steps;
    parts.push_back(part);
  };
  for (std::int64_t left = steps; left-- > 0;) {
    const std::int64_t step = backward ? left : steps - 1 - left;
    add(backward ? cell : product, step);
    if (!backward) add(cell, step);
    if (backward && step > 0) add(product, step);
  }
  return parts;
}

std::vector<KernelPart> match_parts(const BoxMatchAttributes& by) {
  kernels::BoxMatchShape shape = by.shape;
  if (by.per_sample) shape.images = 1;
  std::vector<KernelPart> parts;
  for (std::int64_t image = 0; image < by.shape.images; image += shape.images) {
    parts.push_back({"overlaps", kernels::box_overlaps_work(shape)});
    parts.push_back({"argmax", kernels::best_anchors_work(shape)});
    parts.push_back({"scatter", kernels::match_targets_work(shape)});
  }
  return parts;
}

std::vector<KernelPart> simota_parts(const SimotaAttributes& by) {
  kernels::SimotaShape shape = by.shape;
  shape.match.images = by.images_at_once();
  std::vector<KernelPart> parts;
  for (std::int64_t image = 0; image < by.shape.match.images; image += shape.match.images)
    for (const kernels::SimotaPass& pass : kernels::kSimotaPasses)
      parts.push_back({pass.name, pass.work(shape)});
  return parts;
}

/// The format that the producer of a value rounds it to.
NumberFormat written_format(const Graph& graph, ValueId id) {
  const Node& producer = graph.node(graph.value(id).producer);
  const auto at = std::ranges::find(producer.outputs, id) - producer.outputs.begin();
  return ops::result_format(producer, static_cast<std::size_t>(at));
}

/// Matrices are stored in the format that their producer writes, parameters in that of the ops
/// around them.
NumberFormat stored_format(const Graph& graph, const Node& reader, ValueId id) {
  const Value& value = graph.value(id);
  if (value.type != DataType::kFloat32 || value.shape.rank() < 2) return NumberFormat::kFloat32;
  if (!value.producer.valid())
    return value.role == Role::kParameter ? reader.results : value.stored;
  return written_format(graph, id);
}

bool is_stored_half(const Graph& graph, const Node& reader, ValueId id) {
  return is_half(stored_format(graph, reader, id));
}

}  // namespace

std::vector<KernelPart> kernel_parts(const Graph& graph, const Node& node) {
  // Data of an exchange is read from the operand and written to the result.
  if (node.op == &ops::kTf32Round || node.op == &ops::kExchange || node.on_processor) return {};
  if (const auto* by = std::get_if<BoxMatchAttributes>(&node.attributes)) return match_parts(*by);
  if (const auto* by = std::get_if<SimotaAttributes>(&node.attributes)) return simota_parts(*by);
  if (node.op == &ops::kPickAnchors) {
    const auto& shape = std::get<kernels::MultiboxShape>(node.attributes);
    return {{"topk", kernels::pick_hard_negatives_work(shape)},
            {"compact", kernels::compact_work(shape.rows())}};
  }
  if (const auto* by = std::get_if<OptimizerAttributes>(&node.attributes);
      by && node.op != &ops::kUnscale && node.op != &ops::kUnscaleMultiTensor &&
      node.op != &ops::kUpdateScale)
    return update_parts(graph, node, *by);
  if (const auto* by = std::get_if<LstmAttributes>(&node.attributes);
      by && (node.op == &ops::kLstm || node.op == &ops::kLstmBackward))
    return lstm_parts(graph, node, *by);
  return {{"", node.op->work(graph, node)}};
}

double stored_share(const Graph& graph, const Node& node) {
  double all = 0;
  double stored = 0;
  auto add = [&](ValueId id) {
    const auto bytes = static_cast<double>(graph.value(id).bytes());
    all += bytes;
    stored += is_stored_half(graph, node, id) ? bytes / 2 : bytes;
  };
  for (ValueId id : node.inputs) add(id);
  for (ValueId id : node.outputs) add(id);
  return all > 0 ? stored / all : 1;
}

double divided_share(const Graph& graph, const Node& node) {
  if (node.phase == Phase::kUpdate) return 1;
  double all = 0;
  double divided = 0;
  auto add = [&](ValueId id) {
    const auto bytes = static_cast<double>(graph.value(id).bytes());
    all += bytes;
    // Gradients and casts of a weight are like it, and count as weights.
    if (graph.value(graph.owner(id)).role != Role::kParameter) divided += bytes;
  };
  for (ValueId id : node.inputs) add(id);
  for (ValueId id : node.outputs) add(id);
  return divided > 0 ? divided / all : 1;
}

Arithmetic arithmetic(const Graph& graph, const Node& node) {
  if (precision_class(*node.op) != PrecisionClass::kAllow) return {};
  using conventions::MathUnit;
  if (graph.value(node.inputs[0]).type == DataType::kInt8)
    return {MathUnit::kTensor, false, true, "i8"};
  Arithmetic result{MathUnit::kGeneral, false, false, "f32"};
  for (ValueId id : node.inputs) {
    const Value& value = graph.value(id);
    if (const NumberFormat format = stored_format(graph, node, id); is_half(format))
      return {MathUnit::kTensor, true, false, format == NumberFormat::kBfloat16 ? "bf16" : "f16"};
    if (value.producer.valid() && written_format(graph, id) == NumberFormat::kTf32)
      result = {MathUnit::kTensor, false, false, "tf32"};
  }
  return result;
}

}  // namespace headway::trainer::sim
