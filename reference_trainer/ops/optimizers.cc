// SPDX-License-Identifier: MIT
// The optimizers' updates. They change parameters and state in place, so these nodes have no
// outputs. A single op has the operands of one parameter; a multi-tensor op has those of every
// parameter in turn, in the order that ops/optimizer.h gives. The mathematics is in op.h of
// kernels/sgd_momentum/, adam/, trust_ratio/ and loss_scaler/.
#include "kernels/adam/op.h"
#include "kernels/loss_scaler/op.h"
#include "kernels/sgd_momentum/op.h"
#include "kernels/trust_ratio/op.h"
#include "reference_trainer/ops/optimizer.h"
#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

const OptimizerAttributes& attributes(const Node& node) {
  return std::get<OptimizerAttributes>(node.attributes);
}

Work one_work(const OptimizerAttributes& by, std::int64_t count) {
  Work sum;
  const Work round = {by.has_master() ? count : 0, by.has_master() ? 4 * count : 0};
  switch (by.kind) {
    case OptimizerKind::kSgd:
      if (by.fusion != OptimizerFusion::kOff) return kernels::sgd_momentum_work(count) + round;
      return kernels::sgd_decay_work(count) + kernels::sgd_scale_work(count) +
             kernels::sgd_accumulate_work(count) + kernels::sgd_apply_work(count) + round;
    case OptimizerKind::kAdam:
      if (by.fusion != OptimizerFusion::kOff) return kernels::adam_work(count) + round;
      for (int part = 0; part < kernels::kAdamPasses; ++part)
        sum = sum + kernels::adam_pass_work(part, count);
      return sum + round;
    case OptimizerKind::kLamb:
      return kernels::lamb_directions_work(count) + kernels::squared_norm_work(2 * count) +
             kernels::lamb_apply_work(count) + round;
    case OptimizerKind::kLars:
      return kernels::squared_norm_work(2 * count) + kernels::lars_apply_work(count) + round;
  }
  return sum;
}

Work update_work(const Graph& graph, const Node& node) {
  const OptimizerAttributes& by = attributes(node);
  const std::size_t each = operands_per_parameter(by);
  Work sum;
  for (std::size_t i = 0; i + each <= node.inputs.size(); i += each)
    sum = sum + one_work(by, elements(graph, node.inputs[i]));
  return sum;
}

Work unscale_work(const Graph& graph, const Node& node) {
  Work sum;
  for (std::size_t i = 0; i + 1 < node.inputs.size(); ++i)
    sum = sum + kernels::unscale_work(elements(graph, node.inputs[i]));
  return sum;
}

Work state_work(const Graph&, const Node&) {
  return {4, 32};
}

}  // namespace

const OpDefinition kSgdMomentum{"sgd_momentum", "parameter, velocity, gradient: in place",
                                update_work};
const OpDefinition kSgdMomentumMultiTensor{
    "sgd_momentum_multi_tensor", "(parameter, velocity, gradient)...: in place", update_work};
const OpDefinition kAdam{"adam", "parameter, gradient, moments: in place", update_work};
const OpDefinition kAdamMultiTensor{"adam_multi_tensor",
                                    "(parameter, gradient, moments)...: in place", update_work};
const OpDefinition kLamb{"lamb", "parameter, gradient, moments, direction: in place", update_work};
const OpDefinition kLambMultiTensor{
    "lamb_multi_tensor", "(parameter, gradient, moments, direction)...: in place", update_work};
const OpDefinition kLars{"lars", "parameter, gradient, velocity: in place", update_work};
const OpDefinition kLarsMultiTensor{"lars_multi_tensor",
                                    "(parameter, gradient, velocity)...: in place", update_work};
const OpDefinition kUnscale{"unscale", "gradient / loss scale, overflow noted: in place",
                            unscale_work};
const OpDefinition kUnscaleMultiTensor{
    "unscale_multi_tensor", "gradients / loss scale, overflow noted: in place", unscale_work};
const OpDefinition kUpdateScale{"update_scale", "loss scale and step count: in place", state_work};

}  // namespace headway::trainer::ops
