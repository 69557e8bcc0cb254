// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// Steps in which the program ran a profiler of its own (torch.profiler), as the hook tells it.
struct OwnProfiler {
  std::string options;       ///< "with_stack, record_shapes"; empty: the default ones
  std::int64_t steady = 0;   ///< steady steps with it
  std::int64_t without = 0;  ///< and without
  DurationNs median;         ///< of those with it
  DurationNs median_without;

  /// How many times as long a step takes with it; 0 where no steps can be compared.
  double factor() const { return without ? ratio(median, median_without) : 0; }
};
/// All zero where none ran.
OwnProfiler own_profiler(const trace::Trace& trace, const Steps& steps);

/// Whether it ran in the step of that number.
bool is_profiled(const trace::Trace& trace, std::int64_t step);

}  // namespace headway::analyzer
