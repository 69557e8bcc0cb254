// SPDX-License-Identifier: MIT
// The optimizer's update: one kernel for all tensors, one for this tensor, or the four elementwise
// passes that an optimizer without fused kernels launches.
#include "kernels/sgd_momentum.h"

#include "reference_trainer/devices/host/ops/host_ops.h"

namespace headway::trainer::host {
namespace {

using Tensors = std::shared_ptr<std::vector<kernels::SgdTensor>>;

/// Counts are those of the layouts, padding included (it is zero and stays zero).
Tensors tensors_of(HostGraph& graph, const Node& node) {
  auto tensors = std::make_shared<std::vector<kernels::SgdTensor>>();
  graph.when_bound([&graph, &node, tensors] {
    for (std::size_t i = 0; i < node.inputs.size(); i += 3) {
      const auto bytes = graph.layout(node.inputs[i]).get_size();
      tensors->push_back({graph.address(node.inputs[i]), graph.address(node.inputs[i + 1]),
                          graph.address(node.inputs[i + 2]),
                          static_cast<std::int64_t>(bytes / sizeof(float))});
    }
  });
  return tensors;
}

void add_four_passes(HostGraph& graph, NodeId id, const Tensors& tensors,
                     const SgdAttributes& attributes) {
  const std::int64_t count = graph.graph().value(graph.graph().node(id).inputs[0]).shape.elements();
  graph.need_scratch(graph.layout(graph.graph().node(id).inputs[0]).get_size());
  auto direction = [&graph] { return static_cast<float*>(graph.scratch()); };
  graph.add_kernel(
      id,
      [=](const LaunchArguments&) {
        const kernels::SgdTensor& t = tensors->front();
        kernels::sgd_decay(t.count, t.gradient, t.parameter, attributes.decay, direction());
      },
      "decay", kernels::sgd_decay_work(count));
  graph.add_kernel(
      id,
      [=](const LaunchArguments&) {
        const kernels::SgdTensor& t = tensors->front();
        kernels::sgd_scale(t.count, attributes.momentum, t.velocity);
      },
      "scale", kernels::sgd_scale_work(count));
  graph.add_kernel(
      id,
      [=](const LaunchArguments&) {
        const kernels::SgdTensor& t = tensors->front();
        kernels::sgd_accumulate(t.count, direction(), t.velocity);
      },
      "accumulate", kernels::sgd_accumulate_work(count));
  graph.add_kernel(
      id,
      [=](const LaunchArguments& a) {
        const kernels::SgdTensor& t = tensors->front();
        kernels::sgd_apply(t.count, t.velocity, a.rate, t.parameter);
      },
      "apply", kernels::sgd_apply_work(count));
}

}  // namespace

void add_sgd_momentum(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const auto attributes = std::get<SgdAttributes>(node.attributes);
  const Tensors tensors = tensors_of(graph, node);
  if (attributes.fusion == OptimizerFusion::kOff)
    return add_four_passes(graph, id, tensors, attributes);
  graph.add_kernel(id, [tensors, attributes](const LaunchArguments& a) {
    kernels::sgd_momentum_multi_tensor(*tensors, {a.rate, attributes.momentum, attributes.decay});
  });
}

}  // namespace headway::trainer::host
