// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/whatif/transfers.h"

namespace headway::analyzer {

/// Splits all-reduces that are made in rounds, as PowerSGD makes them: the second sum is computed from the first, so the two
/// cannot share a message. The kernels between two transfers of a stream show the rounds: each round has its own set of kernel
/// names, and the sets repeat. One list for each round; element i of each is of the same bucket. Transfers of the first list
/// have the bytes of the gradients, where the kernels that pack them show these. {all} where there is one round.
std::vector<std::vector<Transfer>> in_rounds(const trace::Trace& trace, std::vector<Transfer> all);

}  // namespace headway::analyzer
