// SPDX-License-Identifier: MIT
// Optimizer updates: a few kernels for all tensors, a few per tensor, or the elementwise passes of
// an optimizer without fused kernels. Where ranks share parameters, a rank updates its part of each.
// Element counts include the layouts' padding, which is and stays zero.
#include "reference_trainer/ops/optimizer.h"

#include "kernels/cast/op.h"
#include "kernels/loss_scaler/op.h"
#include "kernels/sgd_momentum/op.h"
#include "kernels/trust_ratio/op.h"
#include "reference_trainer/devices/host/ops/host_ops.h"

namespace headway::trainer::host {
namespace {

using kernels::AdamTensor;
using kernels::OptimizerState;

/// The operands of one node; set once memory is allocated.
struct Update {
  OptimizerAttributes by;
  std::vector<AdamTensor> tensors;
  std::vector<kernels::SgdTensor> sgd;
  std::vector<float*> directions;
  std::vector<double> parameter_squares;
  std::vector<double> other_squares;
  OptimizerState* state = nullptr;

  bool skip() const { return state && state->skip(); }
  kernels::AdamStep step(float rate) const {
    kernels::AdamStep step{rate, by.beta1, by.beta2, by.epsilon, by.decay, 1, 1, 1};
    return kernels::at_step(step, static_cast<std::int64_t>(state->taken) + 1);
  }
  std::vector<kernels::NormTensor> trained() const {
    std::vector<kernels::NormTensor> list;
    for (const AdamTensor& t : tensors) list.push_back({t.trained(), t.count});
    return list;
  }
};
using Bound = std::shared_ptr<Update>;

void bind_tensor(HostGraph& graph, const Node& node, std::size_t first, Update& update) {
  auto at = [&](std::size_t i) { return graph.own_part(node.inputs[first + i]).data(); };
  const OptimizerAttributes& by = update.by;
  AdamTensor t;
  t.parameter = at(0);
  t.count = static_cast<std::int64_t>(graph.own_part(node.inputs[first]).size());
  t.format = by.format;
  if (by.has_master()) t.master = at(operands_per_parameter(by) - 1);
  if (by.kind == OptimizerKind::kSgd) {
    t.gradient = at(2);
    t.mean = at(1);
    update.sgd.push_back({t.trained(), t.mean, t.gradient, t.count});
  } else {
    t.gradient = at(1);
    t.mean = at(2);
    if (by.kind != OptimizerKind::kLars) t.variance = at(3);
    if (by.kind == OptimizerKind::kLamb) update.directions.push_back(at(4));
  }
  update.tensors.push_back(t);
}

Bound bind(HostGraph& graph, const Node& node) {
  auto update = std::make_shared<Update>();
  update->by = std::get<OptimizerAttributes>(node.attributes);
  graph.when_bound([&graph, &node, update] {
    const std::size_t each = operands_per_parameter(update->by);
    for (std::size_t i = 0; i + each <= node.inputs.size(); i += each)
      bind_tensor(graph, node, i, *update);
    if (update->by.has_state()) update->state = graph.address<OptimizerState>(node.inputs.back());
    update->parameter_squares.resize(update->tensors.size());
    update->other_squares.resize(update->tensors.size());
  });
  return update;
}

std::int64_t elements(const HostGraph& graph, const Node& node) {
  const auto& by = std::get<OptimizerAttributes>(node.attributes);
  const std::size_t each = operands_per_parameter(by);
  std::int64_t count = 0;
  for (std::size_t i = 0; i + each <= node.inputs.size(); i += each)
    count += graph.graph().value(node.inputs[i]).shape.elements();
  return count;
}

/// Adds a kernel that is skipped after an overflow.
void add_part(HostGraph& graph, NodeId id, const Bound& update, const std::string& part,
              std::optional<Work> work, std::function<void(Update&, float rate)> body) {
  graph.add_kernel(
      id,
      [update, body = std::move(body)](const LaunchArguments& a) {
        if (!update->skip()) body(*update, a.rate);
      },
      part, work);
}

/// Rounds the FP32 master copies to the half-precision parameters.
void round_parameters(const Update& update) {
  for (const AdamTensor& t : update.tensors)
    if (t.master) kernels::round_to(t.format, t.count, t.master, t.parameter);
}

void add_four_passes(HostGraph& graph, NodeId id, const Bound& update) {
  const std::int64_t count = elements(graph, graph.graph().node(id));
  graph.need_scratch(graph.layout(graph.graph().node(id).inputs[0]).get_size());
  auto direction = [&graph] { return static_cast<float*>(graph.scratch()); };
  add_part(graph, id, update, "decay", kernels::sgd_decay_work(count), [=](Update& u, float) {
    const kernels::SgdTensor& t = u.sgd.front();
    kernels::sgd_decay(t.count, t.gradient, t.parameter, u.by.decay, direction());
  });
  add_part(graph, id, update, "scale", kernels::sgd_scale_work(count), [](Update& u, float) {
    kernels::sgd_scale(u.sgd.front().count, u.by.momentum, u.sgd.front().velocity);
  });
  add_part(graph, id, update, "accumulate", kernels::sgd_accumulate_work(count),
           [=](Update& u, float) {
             kernels::sgd_accumulate(u.sgd.front().count, direction(), u.sgd.front().velocity);
           });
  add_part(graph, id, update, "apply", kernels::sgd_apply_work(count), [](Update& u, float rate) {
    const kernels::SgdTensor& t = u.sgd.front();
    kernels::sgd_apply(t.count, t.velocity, rate, t.parameter);
    round_parameters(u);
  });
}

}  // namespace

void add_sgd_momentum(HostGraph& graph, NodeId id) {
  const Bound update = bind(graph, graph.graph().node(id));
  if (update->by.fusion == OptimizerFusion::kOff) return add_four_passes(graph, id, update);
  add_part(graph, id, update, {}, {}, [](Update& u, float rate) {
    kernels::sgd_momentum_multi_tensor(u.sgd, {rate, u.by.momentum, u.by.decay});
    round_parameters(u);
  });
}

void add_adam(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const Bound update = bind(graph, node);
  if (update->by.fusion != OptimizerFusion::kOff) {
    return add_part(graph, id, update, {}, {}, [](Update& u, float rate) {
      kernels::adam_multi_tensor(u.tensors, u.step(rate));
    });
  }
  static constexpr const char* kParts[kernels::kAdamPasses] = {
      "mean scale", "mean add", "square scale", "square add", "size", "decay", "apply"};
  graph.need_scratch(graph.layout(node.inputs[0]).get_size());
  for (int part = 0; part < kernels::kAdamPasses; ++part) {
    add_part(graph, id, update, kParts[part], kernels::adam_pass_work(part, elements(graph, node)),
             [&graph, part](Update& u, float rate) {
               kernels::adam_pass(part, u.tensors.front(), u.step(rate),
                                  static_cast<float*>(graph.scratch()));
             });
  }
}

void add_lamb(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const Bound update = bind(graph, node);
  const std::int64_t count = elements(graph, node);
  add_part(graph, id, update, "direction", kernels::lamb_directions_work(count),
           [](Update& u, float rate) {
             kernels::lamb_directions(u.tensors, u.step(rate), u.directions);
           });
  add_part(graph, id, update, "norms", kernels::squared_norm_work(2 * count), [](Update& u, float) {
    std::vector<kernels::NormTensor> directions;
    for (std::size_t i = 0; i < u.tensors.size(); ++i)
      directions.push_back({u.directions[i], u.tensors[i].count});
    kernels::squared_norms(u.trained(), u.parameter_squares);
    kernels::squared_norms(directions, u.other_squares);
  });
  add_part(graph, id, update, "apply", kernels::lamb_apply_work(count), [](Update& u, float rate) {
    kernels::lamb_apply(u.tensors, u.step(rate), u.directions, u.parameter_squares,
                        u.other_squares);
  });
}

void add_lars(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const Bound update = bind(graph, node);
  const std::int64_t count = elements(graph, node);
  add_part(graph, id, update, "norms", kernels::squared_norm_work(2 * count), [](Update& u, float) {
    std::vector<kernels::NormTensor> gradients;
    for (const AdamTensor& t : u.tensors) gradients.push_back({t.gradient, t.count});
    kernels::squared_norms(u.trained(), u.parameter_squares);
    kernels::squared_norms(gradients, u.other_squares);
  });
  add_part(graph, id, update, "apply", kernels::lars_apply_work(count), [](Update& u, float rate) {
    kernels::lars_apply(u.tensors, {rate, u.by.momentum, u.by.decay, u.by.trust, 1},
                        u.parameter_squares, u.other_squares);
  });
}

void add_unscale(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  auto tensors = std::make_shared<std::vector<kernels::GradientTensor>>();
  graph.when_bound([&graph, &node, tensors] {
    for (std::size_t i = 0; i + 1 < node.inputs.size(); ++i) {
      const std::span<float> part = graph.own_part(node.inputs[i]);
      tensors->push_back({part.data(), static_cast<std::int64_t>(part.size())});
    }
  });
  graph.add_kernel(id, [&graph, &node, tensors](const LaunchArguments&) {
    kernels::unscale(*tensors, *graph.address<OptimizerState>(node.inputs.back()));
  });
}

void add_update_scale(HostGraph& graph, NodeId id) {
  const Node& node = graph.graph().node(id);
  const bool scaled = std::get<OptimizerAttributes>(node.attributes).loss_scale;
  graph.add_kernel(id, [&graph, &node, scaled](const LaunchArguments&) {
    kernels::end_step(*graph.address<OptimizerState>(node.inputs[0]), scaled);
  });
}

}  // namespace headway::trainer::host
