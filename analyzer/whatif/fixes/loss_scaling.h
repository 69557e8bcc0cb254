// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "analyzer/whatif/editor.h"

namespace headway::analyzer {

/// True if a kernel's name shows that it divides gradients by the loss scale, or updates that
/// scale.
bool scales_losses(std::string_view kernel);

/// Adds loss scaling, which FP16 needs: before the update of each parameter, one more kernel
/// unscales its gradient and looks for infinities in it. If one update handles all parameters,
/// there is one kernel for all. `halved`: gradients have 16 bits, as in halve_gradients().
void add_loss_scaling(const Predictor& predictor, bool halved, Editor& editor);

/// Shortens kernels for gradients in 16 bits: unscaling moves half the bytes, an update of several
/// passes moves fewer.
void halve_gradients(const Predictor& predictor, Editor& editor);

/// Drops the kernels of loss scaling, which FP16 needs because of its small range: they unscale
/// gradients and look for infinities in them. Returns the number of dropped kernels.
std::int64_t drop_loss_scaling(const trace::Trace& trace, Editor& editor);

/// True for products in 16 bits with casts between them, so that the values between are in 32 bits.
bool is_mixed(const Predictor& predictor);

}  // namespace headway::analyzer
