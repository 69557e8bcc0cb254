// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "trace/trace.h"

namespace headway::analyzer {

/// Share of the batches' elements, 0 to 1, that only pad shorter samples to the longest one of
/// their batch. The program or the PyTorch hook reports it (conventions::kPaddingSetting). Nothing
/// if it is missing or not a valid share.
std::optional<double> padding_of_batches(const trace::Trace& trace);

}  // namespace headway::analyzer
