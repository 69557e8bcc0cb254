// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/autodiff.h"
#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// Appends the update of every parameter that has a gradient: with kMultiTensor one op for all,
/// else one op per parameter (which a device runs as one kernel, or as four with kOff). Velocities
/// are state and start at zero. The learning rate comes with each launch.
void add_sgd(Graph& graph, const Gradients& gradients, const SgdAttributes& attributes);

}  // namespace headway::trainer
