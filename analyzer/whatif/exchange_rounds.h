// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/whatif/transfers.h"

namespace headway::analyzer {

/// Splits all-reduces by rounds. PowerSGD computes the second sum from the first, so the two cannot
/// share a message. The kernels between two transfers of a stream show the rounds: each round has
/// its own set of kernel names, and the sets repeat. Returns one list for each round; element i of
/// each list belongs to the same bucket. Transfers of the first list have the bytes of their
/// gradients, if the packing kernels show these. Returns {all} if there is only one round.
std::vector<std::vector<Transfer>> in_rounds(const trace::Trace& trace, std::vector<Transfer> all);

}  // namespace headway::analyzer
