// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"
#include "reference_trainer/ops/autodiff.h"

namespace headway::trainer {

/// Name of the kernels::OptimizerState in a graph. There is one for all updates; with dynamic loss
/// scaling it has the factor of the loss's gradient.
inline constexpr const char* kOptimizerState = "optimizer.state";
/// Adds the optimizer state. Must be called before add_optimizer where attributes.has_state().
ValueId add_optimizer_state(Graph& graph);

/// Appends the update of every parameter that has a gradient. With kMultiTensor it is one op for
/// all, otherwise one op per parameter, which a device runs as few kernels as it can, or (kOff) as
/// elementwise kernels. The optimizer's memory is state that starts at zero; master copies of a
/// half-precision model start as copies of the parameters. Each launch passes the learning rate.
/// With a loss scale, `unscale` first divides the gradients by it and checks them. Where there is
/// an optimizer state, `update_scale` ends the step.
void add_optimizer(Graph& graph, const Gradients& gradients, const OptimizerAttributes& attributes);

/// Operands per parameter of an update: parameter, gradient, the optimizer's memory for this kind,
/// the master copy. (SGD: parameter, velocity, gradient, master.)
std::size_t operands_per_parameter(const OptimizerAttributes& attributes);

}  // namespace headway::trainer
