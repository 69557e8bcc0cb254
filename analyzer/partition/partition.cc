// SPDX-License-Identifier: MIT
#include "analyzer/partition/partition.h"
#include "analyzer/partition/steady_ops.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/partition/device_ops.h"
#include "analyzer/partition/device_steps.h"
#include "analyzer/partition/gap.h"
#include "analyzer/partition/gap_facts.h"
#include "analyzer/partition/host_partition.h"
#include "common/error.h"
#include "common/interval_set.h"
#include "common/parallel.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Takes segments in order of time, without gaps, and files them under the steps they belong to.
class StepFiller {
 public:
  StepFiller(const Steps& steps, const std::vector<StepWindow>& windows, DevicePartition& out)
      : steps_(steps), windows_(windows), out_(out) {
    open_step();
  }

  void add(const Segment& segment) {
    HEADWAY_INVARIANT(now_ == TimeNs::min() || segment.interval.begin == now_);
    now_ = segment.interval.end;
    while (window_ < windows_.size()) {
      Interval part = intersect(segment.interval, windows_[window_].interval);
      if (!part.empty()) append({part, segment.time_class, segment.cause, segment.refill});
      if (segment.interval.end < windows_[window_].interval.end) return;
      close_step();
    }
  }

  /// False when all steps are full.
  bool open() const { return window_ < windows_.size(); }

 private:
  void open_step() {
    if (window_ == windows_.size()) return;
    DeviceStep step;
    step.step = windows_[window_].step;
    step.interval = windows_[window_].interval;
    step.first_segment = static_cast<std::uint32_t>(out_.segments.size());
    if (step.step < steps_.all.size())
      step.host_ahead = step.interval.end - steps_.all[step.step].host.end;
    out_.steps.push_back(step);
  }

  void append(const Segment& segment) {
    DeviceStep& step = out_.steps.back();
    step.times[segment.time_class] += segment.interval.length();
    if (out_.segments.size() > step.first_segment) {
      Segment& last = out_.segments.back();
      if (last.time_class == segment.time_class && last.refill == segment.refill &&
          last.cause == segment.cause) {
        last.interval.end = segment.interval.end;
        return;
      }
    }
    out_.segments.push_back(segment);
  }

  void close_step() {
    DeviceStep& step = out_.steps.back();
    step.segment_count = static_cast<std::uint32_t>(out_.segments.size()) - step.first_segment;
    HEADWAY_INVARIANT(step.times.total() == step.interval.length());
    ++window_;
    open_step();
  }

  const Steps& steps_;
  const std::vector<StepWindow>& windows_;
  DevicePartition& out_;
  std::size_t window_ = 0;
  TimeNs now_ = TimeNs::min();
};

/// A busy segment as it counts: what evaluation or a checkpoint launched between two steps is no part
/// of training.
Segment counted(const GapFacts& facts, const Segment& busy) {
  const RangeId named = facts.between_range(DeviceOpId{busy.cause.index});
  if (!named.valid()) return busy;
  return {busy.interval, TimeClass::kBetweenSteps, EventRef::of(named)};
}

/// Busy segments with the idle time between them explained, over `whole`.
void cover(Interval whole, const GapFacts& facts, const std::vector<Segment>& busy,
           GapExplainer& gaps, StepFiller& steps) {
  std::vector<Segment> pieces;
  TimeNs now = whole.begin;
  for (const Segment& segment : busy) {
    if (segment.interval.end <= now) continue;
    if (now < segment.interval.begin) {
      pieces.clear();
      gaps.explain({now, segment.interval.begin}, DeviceOpId{segment.cause.index}, pieces);
      for (const Segment& piece : pieces) {
        HEADWAY_INVARIANT(piece.interval.begin == now);
        steps.add(piece);
        now = piece.interval.end;
      }
      HEADWAY_INVARIANT(now == segment.interval.begin);
    }
    Segment busy_part = counted(facts, segment);
    busy_part.interval.begin = std::max(now, segment.interval.begin);
    steps.add(busy_part);
    now = segment.interval.end;
    if (!steps.open()) return;
  }
  // A step may end with an op that took no time.
  if (now < whole.end) steps.add({{now, whole.end}, TimeClass::kUnknown, EventRef{}});
}

void average(const Trace& trace, const RangeNames& names, const Steps& steps,
             const Attribution& attribution, const DeviceWork& work, DevicePartition& out) {
  average_steps(names, steps, out);
  if (out.steady_steps == 0) return;
  std::vector<Interval> steady;
  for (const DeviceStep& step : out.steps) {
    if (counts(steps, step)) steady.push_back(step.interval);
  }
  IntervalSet compute;
  IntervalSet comm;
  IntervalSet h2d;
  for (DeviceOpId op : work.ops) {
    TimeClass c = attribution.class_of[op.value];
    Interval interval = trace.device_ops.interval(op);
    if (c <= TimeClass::kOptimizer) compute.append(interval);
    if (c == TimeClass::kCommTransfer) comm.append(interval);
    if (c == TimeClass::kH2d) h2d.append(interval);
  }
  IntervalSet inside = IntervalSet::from_unsorted(steady);
  out.hidden_comm = intersect(intersect(comm, compute), inside).total() / out.steady_steps;
  out.hidden_h2d = intersect(intersect(h2d, compute), inside).total() / out.steady_steps;
}

DevicePartition partition_device(const GapFacts& facts, const Steps& steps,
                                 const Attribution& attribution, const DeviceWork& work) {
  DevicePartition result;
  std::vector<Segment> busy = busy_segments(facts.trace, attribution, work);
  if (busy.empty()) return result;
  std::vector<StepWindow> windows = step_windows(facts.trace, steps, attribution, work);
  if (windows.empty()) {
    if (steps.source != StepSource::kNone) return result;  // a device that no step uses
    windows.push_back({0, {busy.front().interval.begin, busy.back().interval.end}});
  }
  result.device = work.device;
  GapExplainer gaps(facts, work);
  StepFiller filler(steps, windows, result);
  cover({windows.front().interval.begin, windows.back().interval.end}, facts, busy, gaps, filler);
  HEADWAY_INVARIANT(!filler.open());
  result.segments.shrink_to_fit();  // there may be millions, kept as long as the trace is
  average(facts.trace, facts.names, steps, attribution, work, result);
  return result;
}

}  // namespace

void average_steps(const RangeNames& names, const Steps& steps, DevicePartition& partition) {
  ClassTimes sum;
  partition.stretch = {};
  partition.steady_steps = 0;
  partition.between = {};
  for (const DeviceStep& step : partition.steps) {
    if (!counts(steps, step)) continue;
    ++partition.steady_steps;
    partition.stretch += step.interval.length();
    sum += step.times;
    if (step.times[TimeClass::kBetweenSteps].ns == 0) continue;
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = partition.segments[step.first_segment + i];
      if (segment.time_class != TimeClass::kBetweenSteps) continue;
      const bool named = segment.cause.kind == EventRef::Kind::kRange;
      const BetweenCause cause =
          named ? names[RangeId{segment.cause.index}].between : BetweenCause::kOther;
      partition.between[cause] += segment.interval.length();
    }
  }
  HEADWAY_INVARIANT(sum.total() == partition.stretch);
  partition.per_steady_step = mean_of(sum, partition.steady_steps);
  for (DurationNs& time : partition.between.of)
    time = time / std::max<std::int64_t>(1, partition.steady_steps);
}

std::string partition_label(const Trace& trace, const DevicePartition& partition) {
  if (partition.device.valid()) {
    const Device& device = trace.devices[partition.device.value];
    return device.name.empty() ? fmt::format("device {}", device.ordinal)
                               : fmt::format("device {} ({})", device.ordinal, device.name);
  }
  if (!partition.thread.valid()) return "host";
  const Thread& thread = trace.threads[partition.thread.value];
  std::string name = thread.name.empty() ? fmt::format("thread {}", thread.tid)
                                         : fmt::format("thread '{}'", thread.name);
  return fmt::format("{} of process {}", name, trace.processes[thread.process.value].pid);
}

std::vector<DevicePartition> partition(const Trace& trace, const Steps& steps,
                                       const Attribution& attribution) {
  return partition(trace, RangeNames(trace), steps, attribution);
}

std::vector<DevicePartition> partition(const Trace& trace, const RangeNames& names,
                                       const Steps& steps, const Attribution& attribution) {
  GapFacts facts(trace, names, attribution, steps);
  std::vector<DeviceWork> work = work_by_device(trace);
  std::vector<DevicePartition> result(work.size());
  run_parallel(work.size(), [&](std::size_t i) {
    result[i] = partition_device(facts, steps, attribution, work[i]);
  });
  std::erase_if(result, [](const DevicePartition& p) { return !p.device.valid(); });
  partition_hosts(facts, steps, result);
  return result;
}

}  // namespace headway::analyzer
