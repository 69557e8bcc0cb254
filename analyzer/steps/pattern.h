// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/steps/range_names.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// How a sequence of tokens repeats.
struct Period {
  /// Positions of the anchor, a token that begins each repetition; empty: nothing repeats.
  std::vector<std::uint32_t> anchors;
  double score = 0;  ///< share of the distinct repeated tokens that every repetition holds
};

/// The longest pattern that repeats at least three times in `tokens` (dense ids below `distinct`).
/// Anchors whose repetitions hold every repeated token win, so that a step is found and not one of
/// its equal layers. O(tokens) per candidate, at most a few dozen of them.
Period find_period(std::span<const std::uint32_t> tokens, std::uint32_t distinct);

/// Steps of one training thread that were found by repetition.
struct PatternSteps {
  trace::ThreadId thread;  ///< none: no steps, see `how`
  std::vector<Interval> steps;
  std::string how;  ///< what repeats and how sure it is; or why there are no steps
};

/// Looks for repeating patterns per process: in the outermost ops and annotations of its training
/// thread where its work runs inside ranges, else in the names of the kernels it launches. A
/// repetition is a step only if each holds an update of the weights or a wait for input: else it may
/// be a layer or a request.
std::vector<PatternSteps> find_pattern_steps(const trace::Trace& trace, const RangeNames& names);

}  // namespace headway::analyzer
