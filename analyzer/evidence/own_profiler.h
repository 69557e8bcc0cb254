// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// Steps in which the program ran a profiler of its own (torch.profiler), as the hook reports it.
struct OwnProfiler {
  std::string options;       ///< "with_stack, record_shapes"; empty: the defaults
  std::int64_t steady = 0;   ///< number of steady steps with the profiler
  std::int64_t without = 0;  ///< number of steady steps without it
  DurationNs median;         ///< median step with the profiler
  DurationNs median_without;

  /// Median step with the profiler / median step without it; 0 if there is none without it.
  double factor() const { return without ? ratio(median, median_without) : 0; }
};
/// All zero if no profiler ran.
OwnProfiler own_profiler(const trace::Trace& trace, const Steps& steps);

/// True if the profiler ran in the step with this number.
bool is_profiled(const trace::Trace& trace, std::int64_t step);

}  // namespace headway::analyzer
