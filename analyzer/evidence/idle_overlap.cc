// SPDX-License-Identifier: MIT
#include "analyzer/evidence/idle_overlap.h"

#include <algorithm>

#include "analyzer/partition/steady_ops.h"
#include "common/interval_set.h"

namespace headway::analyzer {
namespace {

bool is_idle(TimeClass c) {
  TimeGroup group = info(c).group;
  return group != TimeGroup::kCompute && group != TimeGroup::kCommunication &&
         group != TimeGroup::kCopy;
}

}  // namespace

IdleOverlap idle_during(const RuleContext& context, std::vector<Interval> intervals) {
  IntervalSet wanted = IntervalSet::from_unsorted(std::move(intervals));
  IdleOverlap worst;
  for (const DevicePartition& device : context.partitions) {
    if (device.steady_steps == 0 || !device.device.valid()) continue;
    std::vector<Interval> idle;
    for (const DeviceStep& step : device.steps) {
      if (!counts(context.steps, step)) continue;
      for (std::uint32_t i = 0; i < step.segment_count; ++i) {
        const Segment& segment = device.segments[step.first_segment + i];
        if (is_idle(segment.time_class)) idle.push_back(segment.interval);
      }
    }
    IntervalSet both = intersect(IntervalSet::from_unsorted(std::move(idle)), wanted);
    IdleOverlap overlap;
    overlap.device = &device;
    overlap.per_step = both.total() / device.steady_steps;
    overlap.step = device.per_steady_step.total();
    overlap.pieces.assign(both.intervals().begin(), both.intervals().end());
    std::stable_sort(overlap.pieces.begin(), overlap.pieces.end(),
                     [](Interval a, Interval b) { return a.length() > b.length(); });
    if (!worst.device || overlap.share() > worst.share()) worst = std::move(overlap);
  }
  return worst;
}

}  // namespace headway::analyzer
