// SPDX-License-Identifier: MIT
#pragma once

#include "kernels/batch_norm/op.h"
#include "reference_trainer/graph/graph.h"

namespace headway::trainer::ops {

/// The rows x channels in which the kernels see an NHWC (or NC) value.
kernels::BatchNormShape batch_norm_shape(const Graph& graph, ValueId x);

}  // namespace headway::trainer::ops
