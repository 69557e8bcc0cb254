// SPDX-License-Identifier: MIT
#include "analyzer/partition/partition.h"

#include <algorithm>

#include "analyzer/partition/device_ops.h"
#include "analyzer/partition/device_steps.h"
#include "analyzer/partition/gap.h"
#include "analyzer/partition/host_activity.h"
#include "analyzer/partition/input_wait.h"
#include "common/error.h"
#include "common/interval_set.h"

namespace headway::analyzer {
namespace {

using namespace trace;

void append(std::vector<Segment>& out, const Segment& segment) {
  if (segment.interval.empty()) return;
  if (!out.empty() && out.back().interval.end == segment.interval.begin &&
      out.back().time_class == segment.time_class && out.back().cause == segment.cause) {
    out.back().interval.end = segment.interval.end;
  } else {
    out.push_back(segment);
  }
}

/// Busy segments with the idle time between them explained, over [begin, end of the last op).
std::vector<Segment> cover(TimeNs begin, const std::vector<Segment>& busy, GapExplainer& gaps) {
  std::vector<Segment> all;
  std::vector<Segment> pieces;
  TimeNs now = begin;
  for (const Segment& segment : busy) {
    if (segment.interval.end <= now) continue;
    if (now < segment.interval.begin) {
      pieces.clear();
      gaps.explain({now, segment.interval.begin}, DeviceOpId{segment.cause.index}, pieces);
      for (const Segment& piece : pieces) {
        HEADWAY_INVARIANT(piece.interval.begin == now);
        append(all, piece);
        now = piece.interval.end;
      }
      HEADWAY_INVARIANT(now == segment.interval.begin);
    }
    append(all, {{std::max(now, segment.interval.begin), segment.interval.end},
                 segment.time_class,
                 segment.cause});
    now = segment.interval.end;
  }
  return all;
}

/// Cuts the covered time at the step boundaries and sums each step up.
void cut_into_steps(const std::vector<StepWindow>& windows, const std::vector<Segment>& covered,
                    DevicePartition& out) {
  std::size_t next = 0;
  for (const StepWindow& window : windows) {
    DeviceStep step;
    step.step = window.step;
    step.interval = window.interval;
    step.first_segment = static_cast<std::uint32_t>(out.segments.size());
    while (next < covered.size() && covered[next].interval.end <= window.interval.begin) ++next;
    for (std::size_t i = next;
         i < covered.size() && covered[i].interval.begin < window.interval.end; ++i) {
      Segment segment = covered[i];
      segment.interval = intersect(segment.interval, window.interval);
      step.times[segment.time_class] += segment.interval.length();
      out.segments.push_back(segment);
    }
    step.segment_count = static_cast<std::uint32_t>(out.segments.size()) - step.first_segment;
    HEADWAY_INVARIANT(step.times.total() == step.interval.length());
    out.steps.push_back(step);
  }
}

void average(const Trace& trace, const Steps& steps, const Attribution& attribution,
             const DeviceWork& work, DevicePartition& out) {
  std::vector<Interval> steady;
  for (const DeviceStep& step : out.steps) {
    if (!steps.all.empty() && !steps.all[step.step].steady) continue;
    steady.push_back(step.interval);
    out.per_steady_step += step.times;
  }
  out.steady_steps = static_cast<std::int64_t>(steady.size());
  if (steady.empty()) return;
  for (DurationNs& time : out.per_steady_step.of) time = time / out.steady_steps;
  IntervalSet compute;
  IntervalSet comm;
  IntervalSet h2d;
  for (DeviceOpId op : work.ops) {
    TimeClass c = busy_class(trace, attribution, op);
    Interval interval = trace.device_ops.interval(op);
    if (c <= TimeClass::kOptimizer) compute.append(interval);
    if (c == TimeClass::kCommTransfer) comm.append(interval);
    if (c == TimeClass::kH2d) h2d.append(interval);
  }
  IntervalSet inside = IntervalSet::from_unsorted(steady);
  out.hidden_comm = intersect(intersect(comm, compute), inside).total() / out.steady_steps;
  out.hidden_h2d = intersect(intersect(h2d, compute), inside).total() / out.steady_steps;
}

}  // namespace

std::vector<DevicePartition> partition(const Trace& trace, const Steps& steps,
                                       const Attribution& attribution) {
  std::vector<DevicePartition> result;
  HostActivity activity(trace);
  InputWaits waits(trace, activity);
  for (const DeviceWork& work : work_by_device(trace)) {
    std::vector<Segment> busy = busy_segments(trace, attribution, work);
    if (busy.empty()) continue;
    std::vector<StepWindow> windows = step_windows(trace, steps, attribution, work);
    if (windows.empty()) {
      if (steps.source != StepSource::kNone) continue;  // a device that no step uses
      windows.push_back({0, {busy.front().interval.begin, busy.back().interval.end}});
    }
    GapExplainer gaps(trace, attribution, steps, activity, waits, work);
    DevicePartition partition;
    partition.device = work.device;
    cut_into_steps(windows, cover(windows.front().interval.begin, busy, gaps), partition);
    average(trace, steps, attribution, work, partition);
    result.push_back(std::move(partition));
  }
  return result;
}

}  // namespace headway::analyzer
