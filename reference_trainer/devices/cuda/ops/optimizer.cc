// SPDX-License-Identifier: MIT
// The optimizers' updates: tables of tensors, passed in the parameters of few launches
// (kernels/cuda/tensor_table.h).
#include "reference_trainer/ops/optimizer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <span>

#include "kernels/adam/launch.h"
#include "kernels/loss_scaler/launch.h"
#include "kernels/sgd_momentum/launch.h"
#include "kernels/sgd_momentum/op.h"
#include "kernels/trust_ratio/launch.h"
#include "kernels/trust_ratio/op.h"
#include "kernels/update_passes/launch.h"
#include "reference_trainer/devices/cuda/cuda_ops.h"
#include "reference_trainer/devices/cuda/ops/update_groups.h"

namespace headway::trainer::cuda_device {
namespace {

using kernels::cuda::CopyFormat;
using kernels::cuda::NormOf;
using kernels::cuda::TableStep;
using kernels::cuda::TableTensor;

/// Each launch gets the learning rate. A table's parameters begin with the TableStep.
void set_rate(Launches& launches, const LaunchArguments& arguments) {
  for (Launch& launch : launches)
    std::memcpy(launch.parameters.data() + offsetof(TableStep, rate), &arguments.rate,
                sizeof arguments.rate);
}

/// Adds a kernel of the node: the launches that `run` makes for each group, in turn.
template <class Run>
void add_part(CudaGraph& graph, NodeId id, const std::vector<Group>& groups, const Run& run,
              const std::string& part = {}, std::optional<Work> work = {}) {
  const Node& node = graph.node(id);
  graph.add_launches(id,
                     [=, &graph, &node](int) {
                       Launches all;
                       for (const Group& group : groups)
                         std::ranges::move(
                             run(group, step_of(graph, node, group), table(graph, group)),
                             std::back_inserter(all));
                       return all;
                     },
                     part, work, {Vary::By::kRate, set_rate});
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

/// Adds a kernel for each elementwise pass: `run(pass, group, step, tensors)`, `work(pass)`.
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
