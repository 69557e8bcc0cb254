// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// Samples that all ranks train on in one step: the batch of a rank, times the batches that it takes
/// in a step (accumulation), times the ranks. From the program's settings ("batch", "accumulate",
/// "ranks"), or from a recorded DataLoader's batch size and the batches that the training thread
/// waits for in the judged stretch. `ranks_seen`: the least
/// number of ranks. nullopt where the recording does not tell, or has several
/// loaders.
std::optional<double> samples_per_step(const trace::Trace& trace, const RangeNames& names,
                                       const Steps& steps, std::int32_t ranks_seen = 1);

/// "52,148 samples/s", "3.25 samples/s".
std::string samples_per_s_text(double rate);

}  // namespace headway::analyzer
