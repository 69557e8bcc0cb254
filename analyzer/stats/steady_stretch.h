// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// The steady steps' stretch of time and their number; the whole trace and 0 without any.
struct SteadyStretch {
  SteadyStretch(const trace::Trace& trace, const Steps& steps) {
    for (std::uint32_t index : steps.steady) {
      const Interval step = steps.all[index].cycle();
      window.begin = count ? std::min(window.begin, step.begin) : step.begin;
      window.end = count ? std::max(window.end, step.end) : step.end;
      ++count;
    }
    if (count == 0) window = {TimeNs{0}, TimeNs{trace.end.ns + 1}};
  }
  Interval window;
  std::int64_t count = 0;
};

}  // namespace headway::analyzer
