// SPDX-License-Identifier: MIT
#include "analyzer/ranks/refine.h"

#include <map>
#include <utility>

#include "analyzer/partition/steady_ops.h"
#include "analyzer/ranks/identity.h"
#include "common/error.h"

namespace headway::analyzer {
namespace {

using WaitsByEvent = std::map<std::pair<EventRef::Kind, std::uint32_t>, Interval>;

/// Adds the interval in which each collective of the rank only waited for other ranks. `row_of` gives the
/// event's row in the trace of the partitions.
template <class RowOf>
void add_waits(const JobAnalysis& job, std::uint32_t rank, RowOf row_of, WaitsByEvent& waits) {
  const Collectives& collectives = job.ranks[rank].collectives;
  for (std::size_t i = 0; i < collectives.rows.size(); ++i) {
    const RankCollective& row = collectives.rows[i];
    const DurationNs wait = job.roles[rank].waits[i];
    const EventRef event = row_of(row.event());
    if (wait.ns > 0) waits[{event.kind, event.index}] = {row.time.begin, row.time.begin + wait};
  }
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

void refine(const WaitsByEvent& waits, const trace::Trace& trace, const Attribution& attribution,
            const Steps& steps, std::vector<DevicePartition>& partitions) {
  for (DevicePartition& partition : partitions) {
    std::vector<Segment> segments;
    segments.reserve(partition.segments.size());
    ClassTimes sum;
    for (DeviceStep& step : partition.steps) {
      auto first = static_cast<std::uint32_t>(segments.size());
      step.times = {};
      for (std::uint32_t i = 0; i < step.segment_count; ++i) {
        const Segment& segment = partition.segments[step.first_segment + i];
        const bool communication = segment.time_class == TimeClass::kCommTransfer;
        const EventRef event =
            communication ? collective_of(trace, attribution, segment.cause) : EventRef{};
        auto wait = communication ? waits.find({event.kind, event.index}) : waits.end();
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

}  // namespace

void refine_partitions(const JobAnalysis& job, std::uint32_t rank, const trace::Trace& trace,
                       const Attribution& attribution, const Steps& steps,
                       std::vector<DevicePartition>& partitions) {
  WaitsByEvent waits;
  add_waits(
      job, rank, [](EventRef event) { return event; }, waits);
  refine(waits, trace, attribution, steps, partitions);
}

void refine_partitions_of_all(const JobAnalysis& job, const std::vector<trace::KeptRows>& kept,
                              const trace::Trace& whole, const Attribution& attribution,
                              const Steps& steps, std::vector<DevicePartition>& partitions) {
  WaitsByEvent waits;
  for (std::uint32_t r = 0; r < job.ranks.size(); ++r)
    add_waits(
        job, r, [&](EventRef event) { return event_in_whole(kept[r], event); }, waits);
  refine(waits, whole, attribution, steps, partitions);
}

}  // namespace headway::analyzer
