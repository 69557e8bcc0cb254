// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/whatif/transfers.h"

namespace headway::analyzer {

/// Sums that are made in rounds, as PowerSGD makes them: what is summed second is computed from the first sum, so the two never
/// share a message. Told by the kernels between the transfers of a stream: other ones in each round, none of them in two.
/// One list for each round, the i-th of each for one bucket; the first has the bytes of the gradients where the kernels that
/// pack them tell. `all` itself where there is one round.
std::vector<std::vector<Transfer>> in_rounds(const trace::Trace& trace, std::vector<Transfer> all);

}  // namespace headway::analyzer
