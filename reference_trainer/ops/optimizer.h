// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"
#include "reference_trainer/ops/autodiff.h"

namespace headway::trainer {

/// Name of the kernels::OptimizerState in a graph: one for all updates, and what the gradient of
/// the loss is multiplied by with dynamic loss scaling.
inline constexpr const char* kOptimizerState = "optimizer.state";
/// Must come before add_optimizer where attributes.has_state().
ValueId add_optimizer_state(Graph& graph);

/// Appends the update of every parameter that has a gradient: with kMultiTensor one op for all,
/// else one op per parameter (which a device runs as few kernels as it can, or as elementwise ones
/// with kOff). What the optimizer remembers is state and starts at zero, the master copies of a
/// half-precision model as copies of the parameters. The learning rate comes with each launch.
/// With a loss scale, first the gradients are divided by it and checked (unscale); where there is
/// an optimizer state, update_scale ends the step.
void add_optimizer(Graph& graph, const Gradients& gradients, const OptimizerAttributes& attributes);

/// Operands per parameter of an update: parameter, gradient, then what the kind remembers, then the
/// master copy. (SGD: parameter, velocity, gradient, master.)
std::size_t operands_per_parameter(const OptimizerAttributes& attributes);

}  // namespace headway::trainer
