// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "trace/trace.h"

namespace headway::analyzer {

/// Of the elements of the batches, the share that only pads shorter samples to the longest one of their batch, 0 to 1, as the
/// program or the PyTorch hook says it (conventions::kPaddingSetting). Nothing where nobody says, or what is said is no share.
std::optional<double> padding_of_batches(const trace::Trace& trace);

}  // namespace headway::analyzer
