// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>

#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// The time from the first to the last steady step, each up to the next step, and the number of steady steps. Without any: the
/// whole trace, and 0.
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
