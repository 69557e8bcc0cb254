// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"
#include "reference_trainer/switches/choices.h"

namespace headway::trainer {

/// Format of parameters that have master copies; kFloat32: no master copies.
kernels::NumberFormat parameter_format(Precision precision);
bool needs_loss_scale(Precision precision);

/// The precision lists' class of an op: its operands (or results) may be of lower precision
/// (kAllow), must not be (kDeny), or keep the format that they come in (kNeutral).
enum class PrecisionClass : std::uint8_t { kAllow, kDeny, kNeutral };
PrecisionClass precision_class(const OpDefinition& op);

/// Inserts the casts that `precision` requires, and marks ops that write results of half precision.
/// Run it after the gradients and before the optimizer. `state`: the optimizer's state when there
/// is a loss scale, which the loss's gradient then reads. Returns the number of casts inserted. On
/// a device without such formats, values stay FP32 in memory and are rounded to the format.
int apply_precision(Graph& graph, Precision precision, ValueId state);

}  // namespace headway::trainer
