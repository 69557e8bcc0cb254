// SPDX-License-Identifier: MIT
#include "analyzer/evidence/between_steps.h"

#include <algorithm>

#include "analyzer/steps/range_names.h"

namespace headway::analyzer {

const BetweenCauseInfo& main_between_cause(const trace::Trace& trace,
                                           const DevicePartition& partition,
                                           std::span<const DeviceStep* const> steps) {
  const RangeNames names(trace);
  BetweenTimes times;
  for (const DeviceStep* step : steps) {
    for (std::uint32_t i = 0; i < step->segment_count; ++i) {
      const Segment& segment = partition.segments[step->first_segment + i];
      if (segment.time_class != TimeClass::kBetweenSteps) continue;
      const bool named = segment.cause.kind == EventRef::Kind::kRange;
      times[named ? names[trace::RangeId{segment.cause.index}].between : BetweenCause::kOther] +=
          segment.interval.length();
    }
  }
  auto most = std::max_element(times.of.begin(), times.of.end());
  return between_causes()[static_cast<std::size_t>(most - times.of.begin())];
}

}  // namespace headway::analyzer
