// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/replay/run_scatter.h"

namespace headway::analyzer {

/// A stretch of a long recording with its own analysis, which refers to it.
struct Sample {
  trace::Trace trace;
  Analysis analysis;
  RunLengths run;  ///< all steady steps of the recording
};

/// Recordings up to this many events are replayed as a whole; those of all ranks of a job up to twice as many.
inline constexpr std::size_t kReplayedWhole = 200'000;

/// A sample of a longer recording: consecutive steps whose mean is closest to that of all steady
/// steps, with at least two steps before them, which contain the work that they wait for. None if
/// the recording is short or has no steady steps. `analysis`: of the recording, or of one of its
/// ranks.
std::unique_ptr<Sample> take_sample(const trace::Trace& trace, const Analysis& analysis,
                                    std::size_t replayed_whole = kReplayedWhole);

}  // namespace headway::analyzer
