// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "analyzer/whatif/editor.h"

namespace headway::analyzer {

/// By a kernel's name: it divides gradients by the scale of the loss, or sets that.
bool scales_losses(std::string_view kernel);

/// FP16 needs the losses scaled: before each parameter is updated, a kernel more looks for infinities in its gradient and
/// unscales it. Of an update of all parameters at once, one in all. `halved`: gradients have 16 bits, as in halve_gradients().
void add_loss_scaling(const Predictor& predictor, bool halved, Editor& editor);

/// Gradients in 16 bits: what unscales them moves half, and an update of several passes less.
void halve_gradients(const Predictor& predictor, Editor& editor);

/// Drops the kernels that divide gradients by the scale of the loss and look for infinities in them, which FP16 needs for its
/// small range. How many.
std::int64_t drop_loss_scaling(const trace::Trace& trace, Editor& editor);

/// Products in 16 bits, and between each two of them casts: what lies there is in 32 bits.
bool is_mixed(const Predictor& predictor);

}  // namespace headway::analyzer
