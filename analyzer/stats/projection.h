// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/analysis.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// What the device ops launched inside each range did: a range includes those inside it.
struct RangeProjection {
  std::vector<TimeNs> first;
  std::vector<TimeNs> last;
  std::vector<std::int64_t> busy_ns;
  std::vector<std::uint32_t> ops;  ///< 0: launched nothing, the rest means nothing
};
RangeProjection project_ranges(const trace::Trace& trace, const Analysis& analysis);

}  // namespace headway::analyzer
