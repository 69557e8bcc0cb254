// SPDX-License-Identifier: MIT
#include "analyzer/ranks/refine.h"

#include <unordered_map>

#include "analyzer/partition/steady_ops.h"
#include "common/error.h"

namespace headway::analyzer {
namespace {

/// The interval in which each device op of the rank only waited for other ranks.
std::unordered_map<std::uint32_t, Interval> waits_by_op(const JobAnalysis& job,
                                                        std::uint32_t rank) {
  std::unordered_map<std::uint32_t, Interval> waits;
  const Collectives& collectives = job.ranks[rank].collectives;
  for (std::size_t i = 0; i < collectives.rows.size(); ++i) {
    DurationNs wait = job.roles[rank].waits[i];
    TimeNs begin = collectives.rows[i].time.begin;
    if (wait.ns > 0) waits[collectives.rows[i].op] = {begin, begin + wait};
  }
  return waits;
}

/// Appends `segment`, cut where `wait` begins and ends.
void append_cut(const Segment& segment, Interval wait, std::vector<Segment>& out) {
  Interval inside = intersect(segment.interval, wait);
  auto add = [&](Interval part, TimeClass c) {
    if (!part.empty()) out.push_back({part, c, segment.cause});
  };
  if (inside.empty()) return add(segment.interval, segment.time_class);
  add({segment.interval.begin, inside.begin}, segment.time_class);
  add(inside, TimeClass::kStragglerWait);
  add({inside.end, segment.interval.end}, segment.time_class);
}

}  // namespace

void refine_partitions(const JobAnalysis& job, std::uint32_t rank, const Steps& steps,
                       std::vector<DevicePartition>& partitions) {
  std::unordered_map<std::uint32_t, Interval> waits = waits_by_op(job, rank);
  for (DevicePartition& partition : partitions) {
    std::vector<Segment> segments;
    segments.reserve(partition.segments.size());
    ClassTimes sum;
    for (DeviceStep& step : partition.steps) {
      auto first = static_cast<std::uint32_t>(segments.size());
      step.times = {};
      for (std::uint32_t i = 0; i < step.segment_count; ++i) {
        const Segment& segment = partition.segments[step.first_segment + i];
        bool communication = segment.time_class == TimeClass::kCommTransfer &&
                             segment.cause.kind == EventRef::Kind::kDeviceOp;
        auto wait = communication ? waits.find(segment.cause.index) : waits.end();
        append_cut(segment, wait == waits.end() ? Interval{} : wait->second, segments);
      }
      step.first_segment = first;
      step.segment_count = static_cast<std::uint32_t>(segments.size()) - first;
      for (std::uint32_t i = first; i < segments.size(); ++i)
        step.times[segments[i].time_class] += segments[i].interval.length();
      HEADWAY_INVARIANT(step.times.total() == step.interval.length());
      if (counts(steps, step)) sum += step.times;
    }
    partition.per_steady_step = mean_of(sum, partition.steady_steps);
    partition.segments = std::move(segments);
  }
}

}  // namespace headway::analyzer
