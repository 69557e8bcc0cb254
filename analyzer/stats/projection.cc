// SPDX-License-Identifier: MIT
#include "analyzer/stats/projection.h"

#include <algorithm>

namespace headway::analyzer {

using namespace trace;

RangeProjection project_ranges(const Trace& trace, const Analysis& analysis) {
  std::size_t count = trace.ranges.size();
  RangeProjection p{std::vector<TimeNs>(count, TimeNs::max()),
                    std::vector<TimeNs>(count, TimeNs::min()), std::vector<std::int64_t>(count),
                    std::vector<std::uint32_t>(count)};
  auto add = [&](std::size_t to, TimeNs first, TimeNs last, std::int64_t busy, std::uint32_t ops) {
    p.first[to] = std::min(p.first[to], first);
    p.last[to] = std::max(p.last[to], last);
    p.busy_ns[to] += busy;
    p.ops[to] += ops;
  };
  for (std::uint32_t i = 0; i < analysis.attribution.range_of.size(); ++i) {
    RangeId range = analysis.attribution.range_of[i];
    Interval run = trace.device_ops.interval({i});
    if (range.valid()) add(range.value, run.begin, run.end, run.length().ns, 1);
  }
  // A parent stands before its children, so the last range can be added to its parent first.
  for (std::size_t i = count; i-- > 0;) {
    RangeId parent = trace.ranges.parent[i];
    if (p.ops[i] && parent.valid() && parent.value < i)
      add(parent.value, p.first[i], p.last[i], p.busy_ns[i], p.ops[i]);
  }
  return p;
}

}  // namespace headway::analyzer
