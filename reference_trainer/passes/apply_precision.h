// SPDX-License-Identifier: MIT
#pragma once

#include "reference_trainer/graph/graph.h"
#include "reference_trainer/switches/choices.h"

namespace headway::trainer {

/// Format of the parameters beside their master copies; kFloat32: no master copies.
kernels::NumberFormat parameter_format(Precision precision);
bool needs_loss_scale(Precision precision);

/// What the lists say of an op: its operands (or results) may be of lower precision, or must not
/// be. In between, an op takes what it gets.
enum class PrecisionClass : std::uint8_t { kAllow, kDeny, kNeutral };
PrecisionClass precision_class(const OpDefinition& op);

/// Inserts the casts that `precision` means, and marks ops that write results of half precision.
/// Runs after the gradients and before the optimizer. `state`: the optimizer's state when there is
/// a loss scale, which the loss's gradient then reads. Returns the number of casts inserted.
/// On a device without such formats, values stay FP32 in memory and are rounded to the format.
int apply_precision(Graph& graph, Precision precision, ValueId state);

}  // namespace headway::trainer
