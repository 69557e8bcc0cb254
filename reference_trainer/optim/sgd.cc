// SPDX-License-Identifier: MIT
#include "reference_trainer/optim/sgd.h"

#include "reference_trainer/ops/op.h"

namespace headway::trainer {
namespace {

ValueId add_velocity(Graph& graph, ValueId parameter) {
  Value velocity;
  velocity.name = graph.value(parameter).name + ".velocity";
  velocity.shape = graph.value(parameter).shape;
  velocity.role = Role::kState;
  velocity.like = parameter;
  return graph.add_value(std::move(velocity));
}

}  // namespace

void add_sgd(Graph& graph, const Gradients& gradients, const SgdAttributes& attributes) {
  std::vector<ValueId> all;
  for (ValueId parameter : graph.parameters()) {
    const ValueId gradient = gradients.of(parameter);
    if (!gradient.valid()) continue;
    const std::vector<ValueId> operands = {parameter, add_velocity(graph, parameter), gradient};
    if (attributes.fusion == OptimizerFusion::kMultiTensor) {
      all.insert(all.end(), operands.begin(), operands.end());
    } else {
      graph.add_node({&ops::kSgdMomentum,
                      graph.value(parameter).name,
                      Phase::kUpdate,
                      graph.consumers(parameter).front(),
                      operands,
                      {},
                      attributes});
    }
  }
  if (!all.empty())
    graph.add_node({&ops::kSgdMomentumMultiTensor,
                    "all parameters",
                    Phase::kUpdate,
                    NodeId::none(),
                    all,
                    {},
                    attributes});
}

}  // namespace headway::trainer
