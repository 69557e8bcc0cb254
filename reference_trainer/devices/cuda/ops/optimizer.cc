// SPDX-License-Identifier: MIT
// The optimizers' updates: tables of tensors in the parameters of few launches (kernels/cuda/tensor_table.h). A kernel
// reads gradients of one format and writes parameters of one, so tensors are dealt into groups by both; there are two at
// most, matrices and vectors.
#include "reference_trainer/optim/optimizer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "kernels/cuda/adam.h"
#include "kernels/cuda/loss_scaler.h"
#include "kernels/cuda/sgd_momentum.h"
#include "kernels/cuda/trust_ratio.h"
#include "kernels/cuda/update_passes.h"
#include "kernels/sgd_momentum.h"
#include "kernels/trust_ratio.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"

namespace headway::trainer::cuda_device {
namespace {

using kernels::cuda::CopyFormat;
using kernels::cuda::NormOf;
using kernels::cuda::TableStep;
using kernels::cuda::TableTensor;

/// Values of one tensor, in the order of the node's operands.
struct TensorValues {
  ValueId parameter, gradient, first, second, direction, master;
};

/// Tensors that one launch may have together, and scratch memory for their norms.
struct Group {
  NumberFormat gradients = NumberFormat::kFloat32;
  CopyFormat copies = CopyFormat::kNone;
  std::vector<TensorValues> tensors;
  Operand parts;              ///< a double per chunk
  Operand parameter_squares;  ///< a double per tensor
  Operand other_squares;
  Operand
      between;  ///< of an update in passes, which has one tensor: an array that lies between them
};

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

/// How the kernel writes the parameter beside its master copy: as it lies.
CopyFormat copy_format(const CudaGraph& graph, const OptimizerAttributes& by, ValueId parameter) {
  if (!by.has_master()) return CopyFormat::kNone;
  const bool narrow = graph.format(parameter) != NumberFormat::kFloat32;
  if (by.format == NumberFormat::kFloat16)
    return narrow ? CopyFormat::kFloat16 : CopyFormat::kRoundedFloat16;
  return narrow ? CopyFormat::kBfloat16 : CopyFormat::kRoundedBfloat16;
}

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

/// The learning rate comes with each launch. A table's parameters begin with the step.
void set_rate(Launches& launches, const LaunchArguments& arguments) {
  for (Launch& launch : launches)
    std::memcpy(launch.parameters.data() + offsetof(TableStep, rate), &arguments.rate,
                sizeof arguments.rate);
}

/// A kernel of the node: what `run` makes of each group, in turn.
template <class Run>
void add_part(CudaGraph& graph, NodeId id, const std::vector<Group>& groups, const Run& run,
              const std::string& part = {}, std::optional<Work> work = {}) {
  const Node& node = graph.node(id);
  graph.add_launches(
      id,
      [=, &graph, &node](int) {
        Launches all;
        for (const Group& group : groups)
          std::ranges::move(run(group, step_of(graph, node, group), table(graph, group)),
                            std::back_inserter(all));
        return all;
      },
      part, work, set_rate);
}

const OptimizerAttributes& attributes_of(const CudaGraph& graph, NodeId id) {
  return std::get<OptimizerAttributes>(graph.node(id).attributes);
}

std::int64_t elements(const CudaGraph& graph, const std::vector<Group>& groups) {
  std::int64_t count = 0;
  for (const Group& group : groups)
    for (const TensorValues& t : group.tensors) count += graph.shape(t.parameter).elements();
  return count;
}

void add_norm_scratch(CudaGraph& graph, NodeId id, std::vector<Group>& groups) {
  constexpr std::int64_t kDouble = sizeof(double);
  for (Group& group : groups) {
    std::int64_t chunks = 0;
    for (const TensorValues& t : group.tensors)
      chunks +=
          (graph.shape(t.parameter).elements() + kernels::cuda::kChunk - 1) / kernels::cuda::kChunk;
    const auto tensors = static_cast<std::int64_t>(group.tensors.size());
    group.parts = graph.scratch(id, kDouble * chunks);
    group.parameter_squares = graph.scratch(id, kDouble * tensors);
    group.other_squares = graph.scratch(id, kDouble * tensors);
  }
}

/// Squares of the parameters' norms, and of the directions' (LAMB) or gradients' (LARS).
void add_norms(CudaGraph& graph, NodeId id, const std::vector<Group>& groups, NormOf other) {
  add_part(
      graph, id, groups,
      [&graph, other](const Group& group, TableStep by, std::span<const TableTensor> tensors) {
        by.squares = group.parameter_squares.at<double>();
        Launches all = kernels::cuda::squared_norms(graph.limits(), NormOf::kParameter,
                                                    NumberFormat::kFloat32, by, tensors);
        by.squares = group.other_squares.at<double>();
        const NumberFormat format =
            other == NormOf::kGradient ? group.gradients : NumberFormat::kFloat32;
        std::ranges::move(kernels::cuda::squared_norms(graph.limits(), other, format, by, tensors),
                          std::back_inserter(all));
        return all;
      },
      "norms", kernels::squared_norm_work(2 * elements(graph, groups)));
}

/// A kernel for each elementwise pass: `run(pass, group, step, tensors)`, `work(pass)`.
template <class Run, class PassWork>
void add_passes(CudaGraph& graph, NodeId id, std::vector<Group> groups,
                std::span<const char* const> names, const Run& run, const PassWork& work) {
  groups.front().between = graph.scratch(id, 4 * elements(graph, groups));
  for (std::size_t pass = 0; pass < names.size(); ++pass)
    add_part(
        graph, id, groups,
        [run, pass = static_cast<int>(pass)](const Group& group, const TableStep& by,
                                             std::span<const TableTensor> tensors) {
          return run(pass, group, by, tensors);
        },
        names[pass], work(static_cast<int>(pass)));
}

}  // namespace

void add_sgd_momentum(CudaGraph& graph, NodeId id) {
  const auto groups = deal(graph, graph.node(id), attributes_of(graph, id));
  if (attributes_of(graph, id).fusion == OptimizerFusion::kOff) {
    static constexpr const char* kParts[] = {"decay", "scale", "accumulate", "apply"};
    constexpr std::array kWork = {kernels::sgd_decay_work, kernels::sgd_scale_work,
                                  kernels::sgd_accumulate_work, kernels::sgd_apply_work};
    const std::int64_t count = elements(graph, groups);
    return add_passes(
        graph, id, groups, kParts,
        [&graph](int pass, const Group& group, const TableStep& by,
                 std::span<const TableTensor> tensors) {
          return kernels::cuda::sgd_pass(graph.limits(), group.gradients,
                                         static_cast<kernels::cuda::SgdPass>(pass), by, tensors);
        },
        [&](int pass) { return kWork[static_cast<std::size_t>(pass)](count); });
  }
  add_part(graph, id, groups,
           [&graph](const Group& group, const TableStep& by, std::span<const TableTensor> tensors) {
             return kernels::cuda::sgd_momentum(graph.limits(), group.gradients, by, tensors);
           });
}

void add_adam(CudaGraph& graph, NodeId id) {
  const auto groups = deal(graph, graph.node(id), attributes_of(graph, id));
  if (attributes_of(graph, id).fusion == OptimizerFusion::kOff) {
    static constexpr const char* kParts[kernels::kAdamPasses] = {
        "mean scale", "mean add", "square scale", "square add", "size", "decay", "apply"};
    const std::int64_t count = elements(graph, groups);
    return add_passes(
        graph, id, groups, kParts,
        [&graph](int pass, const Group& group, const TableStep& by,
                 std::span<const TableTensor> tensors) {
          return kernels::cuda::adam_pass(graph.limits(), group.gradients, pass, by, tensors);
        },
        [&](int pass) { return kernels::adam_pass_work(pass, count); });
  }
  add_part(graph, id, groups,
           [&graph](const Group& group, const TableStep& by, std::span<const TableTensor> tensors) {
             return kernels::cuda::adam(graph.limits(), group.gradients, by, tensors);
           });
}

void add_lamb(CudaGraph& graph, NodeId id) {
  auto groups = deal(graph, graph.node(id), attributes_of(graph, id));
  add_norm_scratch(graph, id, groups);
  const std::int64_t count = elements(graph, groups);
  add_part(
      graph, id, groups,
      [&graph](const Group& group, const TableStep& by, std::span<const TableTensor> tensors) {
        return kernels::cuda::lamb_directions(graph.limits(), group.gradients, by, tensors);
      },
      "direction", kernels::lamb_directions_work(count));
  add_norms(graph, id, groups, NormOf::kDirection);
  add_part(
      graph, id, groups,
      [&graph](const Group&, const TableStep& by, std::span<const TableTensor> tensors) {
        return kernels::cuda::lamb_apply(graph.limits(), by, tensors);
      },
      "apply", kernels::lamb_apply_work(count));
}

void add_lars(CudaGraph& graph, NodeId id) {
  auto groups = deal(graph, graph.node(id), attributes_of(graph, id));
  add_norm_scratch(graph, id, groups);
  add_norms(graph, id, groups, NormOf::kGradient);
  add_part(
      graph, id, groups,
      [&graph](const Group& group, const TableStep& by, std::span<const TableTensor> tensors) {
        return kernels::cuda::lars_apply(graph.limits(), group.gradients, by, tensors);
      },
      "apply", kernels::lars_apply_work(elements(graph, groups)));
}

void add_unscale(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  std::vector<Group> groups;
  for (std::size_t i = 0; i + 1 < node.inputs.size(); ++i) {
    TensorValues t;
    t.parameter = t.gradient = node.inputs[i];
    group_of(groups, graph.format(t.gradient), CopyFormat::kNone).tensors.push_back(t);
  }
  graph.add_launches(id, [=, &graph, &node](int) {
    Launches all;
    TableStep by;
    by.state = graph.address<float>(node.inputs.back());
    for (const Group& group : groups) {
      std::vector<TableTensor> tensors;
      for (const TensorValues& t : group.tensors) {
        TableTensor to;
        to.gradient = graph.address(t.gradient);
        to.count = graph.shape(t.gradient).elements();
        tensors.push_back(to);
      }
      std::ranges::move(kernels::cuda::unscale(graph.limits(), group.gradients, by, tensors),
                        std::back_inserter(all));
    }
    return all;
  });
}

void add_update_scale(CudaGraph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const bool scaled = std::get<OptimizerAttributes>(node.attributes).loss_scale;
  graph.add_launches(id, [scaled, state = graph.operand(node.inputs[0])](int) -> Launches {
    return {kernels::cuda::end_step(state.at<float>(), scaled)};
  });
}

}  // namespace headway::trainer::cuda_device
