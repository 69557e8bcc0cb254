// SPDX-License-Identifier: MIT
// The optimizer's update. Updates parameters and velocities in place, so these nodes have no
// outputs.
//   sgd_momentum               inputs: parameter, velocity, gradient
//   sgd_momentum_multi_tensor  inputs: the same three, for every parameter in turn
#include "kernels/sgd_momentum.h"

#include "reference_trainer/ops/support.h"

namespace headway::trainer::ops {
namespace {

Work work(const Graph& graph, const Node& node) {
  const OptimizerFusion fusion = std::get<SgdAttributes>(node.attributes).fusion;
  Work sum;
  for (std::size_t i = 0; i < node.inputs.size(); i += 3) {
    const std::int64_t count = elements(graph, node.inputs[i]);
    if (fusion == OptimizerFusion::kOff) {
      sum = sum + kernels::sgd_decay_work(count) + kernels::sgd_scale_work(count) +
            kernels::sgd_accumulate_work(count) + kernels::sgd_apply_work(count);
    } else {
      sum = sum + kernels::sgd_momentum_work(count);
    }
  }
  return sum;
}

}  // namespace

const OpDefinition kSgdMomentum{"sgd_momentum", "parameter, velocity, gradient: in place", work};
const OpDefinition kSgdMomentumMultiTensor{"sgd_momentum_multi_tensor",
                                           "(parameter, velocity, gradient)...: in place", work};

}  // namespace headway::trainer::ops
