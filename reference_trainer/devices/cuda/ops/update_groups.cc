// SPDX-License-Identifier: MIT
#include "reference_trainer/devices/cuda/ops/update_groups.h"

#include <algorithm>

#include "reference_trainer/ops/optimizer.h"

namespace headway::trainer::cuda_device {

using kernels::cuda::CopyFormat;
using kernels::cuda::TableStep;
using kernels::cuda::TableTensor;

namespace {

TensorValues values_of(const Node& node, const OptimizerAttributes& by, std::size_t at) {
  auto operand = [&](std::size_t i) { return node.inputs[at + i]; };
  TensorValues t;
  t.parameter = operand(0);
  t.gradient = operand(by.kind == OptimizerKind::kSgd ? 2 : 1);
  t.first = operand(by.kind == OptimizerKind::kSgd ? 1 : 2);
  if (by.kind == OptimizerKind::kAdam || by.kind == OptimizerKind::kLamb) t.second = operand(3);
  if (by.kind == OptimizerKind::kLamb) t.direction = operand(4);
  if (by.has_master()) t.master = operand(operands_per_parameter(by) - 1);
  return t;
}

/// How the kernel writes the parameter that has a master copy: in its format in memory.
CopyFormat copy_format(const CudaGraph& graph, const OptimizerAttributes& by, ValueId parameter) {
  if (!by.has_master()) return CopyFormat::kNone;
  const bool narrow = graph.format(parameter) != NumberFormat::kFloat32;
  if (by.format == NumberFormat::kFloat16)
    return narrow ? CopyFormat::kFloat16 : CopyFormat::kRoundedFloat16;
  return narrow ? CopyFormat::kBfloat16 : CopyFormat::kRoundedBfloat16;
}

}  // namespace

Group& group_of(std::vector<Group>& groups, NumberFormat gradients, CopyFormat copies) {
  const auto found = std::ranges::find_if(groups, [&](const Group& group) {
    return group.gradients == gradients && group.copies == copies;
  });
  if (found != groups.end()) return *found;
  return groups.emplace_back(Group{gradients, copies, {}, {}, {}, {}, {}});
}

std::vector<Group> deal(const CudaGraph& graph, const Node& node, const OptimizerAttributes& by) {
  std::vector<Group> groups;
  const std::size_t each = operands_per_parameter(by);
  for (std::size_t i = 0; i + each <= node.inputs.size(); i += each) {
    const TensorValues t = values_of(node, by, i);
    group_of(groups, graph.format(t.gradient), copy_format(graph, by, t.parameter))
        .tensors.push_back(t);
  }
  return groups;
}

std::vector<TableTensor> table(const CudaGraph& graph, const Group& group) {
  auto floats = [&](ValueId value) {
    return value.valid() ? graph.address<float>(value) : nullptr;
  };
  std::vector<TableTensor> tensors;
  for (const TensorValues& t : group.tensors) {
    TableTensor to;
    to.parameter = floats(t.master.valid() ? t.master : t.parameter);
    to.copy = t.master.valid() ? graph.address(t.parameter) : nullptr;
    to.gradient = graph.address(t.gradient);
    to.first = floats(t.first);
    to.second = floats(t.second);
    to.direction = t.direction.valid() ? floats(t.direction) : group.between.at<float>();
    to.count = graph.shape(t.parameter).elements();
    tensors.push_back(to);
  }
  return tensors;
}

TableStep step_of(const CudaGraph& graph, const Node& node, const Group& group) {
  const auto& by = std::get<OptimizerAttributes>(node.attributes);
  TableStep step;
  step.momentum = by.momentum;
  step.beta1 = by.beta1;
  step.beta2 = by.beta2;
  step.epsilon = by.epsilon;
  step.decay = by.decay;
  step.trust = by.trust;
  step.copy_format = group.copies;
  step.state = by.has_state() ? graph.address<float>(node.inputs.back()) : nullptr;
  step.parts = group.parts.at<double>();
  step.parameter_squares = group.parameter_squares.at<double>();
  step.other_squares = group.other_squares.at<double>();
  return step;
}

}  // namespace headway::trainer::cuda_device
