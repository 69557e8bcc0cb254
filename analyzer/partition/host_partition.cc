// SPDX-License-Identifier: MIT
#include "analyzer/partition/host_partition.h"

#include <algorithm>

#include "common/error.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// What another thread of the process did, as far as it can stand for the training thread.
struct Elsewhere {
  Interval interval;
  RangeId range;
};

bool is_work(const RangeContext& context) {
  return context.communication || context.op_source == RangeSource::kOperator ||
         (context.op_source == RangeSource::kNvtx && context.op.valid());
}

class HostPartitioner {
 public:
  HostPartitioner(const GapFacts& facts, ThreadId thread)
      : facts_(facts), trace_(facts.trace), activity_(facts.trace), thread_(thread) {
    find_elsewhere();
  }

  void cover(Interval window, std::vector<Segment>& out) {
    std::vector<Activity> activities;
    activity_.in(thread_, window, activities);
    TimeNs now = window.begin;
    for (const Activity& activity : activities) {
      leave_to_others({now, activity.interval.begin}, TimeClass::kUnknown, EventRef{}, out);
      explain(activity, out);
      now = activity.interval.end;
    }
    leave_to_others({now, window.end}, TimeClass::kUnknown, EventRef{}, out);
  }

 private:
  TimeClass class_of_work(RangeId range) const {
    const RangeContext& context = facts_.attribution.contexts[range.value];
    if (context.communication) return TimeClass::kCommTransfer;
    if (context.op.valid() && facts_.names[context.op].allocation) return TimeClass::kAllocator;
    return context.phase == Phase::kUpdate ? TimeClass::kOptimizer : TimeClass::kComputeOther;
  }

  void explain(const Activity& activity, std::vector<Segment>& out) {
    // A range that declares work between steps is the cause, whatever runs in it.
    if (RangeId named = facts_.between_range(thread_, activity.range); named.valid())
      return push(activity.interval, TimeClass::kBetweenSteps, EventRef::of(named), out);
    RangeId wait = facts_.waits.wait_around(activity.range);
    if (wait.valid()) return facts_.waits.explain(wait, activity.interval, activity_, out);
    if (auto stage = facts_.waits.stage_around(activity.range))
      return push(activity.interval, *stage, activity.event, out);
    if (activity.range.valid() && !facts_.in_step(thread_, activity.interval.begin) &&
        !facts_.lies_between(thread_, activity.range))
      return leave_to_others(activity.interval, TimeClass::kBetweenSteps, EventRef{}, out);
    if (activity.range.valid() && is_work(facts_.attribution.contexts[activity.range.value]))
      return push(activity.interval, class_of_work(activity.range), activity.event, out);
    leave_to_others(activity.interval, TimeClass::kHostOther, activity.event, out);
  }

  /// The training thread does nothing of its own: another thread's op or communication counts, and
  /// between those the class `otherwise`, or the time between steps.
  void leave_to_others(Interval part, TimeClass otherwise, EventRef cause,
                       std::vector<Segment>& out) const {
    if (!facts_.in_step(thread_, part.begin)) otherwise = TimeClass::kBetweenSteps;
    auto it = std::partition_point(elsewhere_.begin(), elsewhere_.end(), [&](const Elsewhere& e) {
      return e.interval.end <= part.begin;
    });
    for (; it != elsewhere_.end() && it->interval.begin < part.end; ++it) {
      Interval inner = intersect(it->interval, part);
      push({part.begin, inner.begin}, otherwise, cause, out);
      push(inner, class_of_work(it->range), EventRef::of(it->range), out);
      part.begin = inner.end;
    }
    push(part, otherwise, cause, out);
  }

  static void push(Interval interval, TimeClass c, EventRef cause, std::vector<Segment>& out) {
    if (!interval.empty()) out.push_back({interval, c, cause});
  }

  /// The outermost ops and communication of the other threads, cut so that they are disjoint: the one
  /// that began first counts.
  void find_elsewhere() {
    ProcessId process = trace_.threads[thread_.value].process;
    for (std::uint32_t i = 0; i < trace_.ranges.size(); ++i) {
      ThreadId thread = trace_.ranges.thread[i];
      if (thread == thread_ || trace_.threads[thread.value].process != process) continue;
      RangeId id{i};
      if (trace_.ranges.is(id, Ranges::kMark) || !is_work(facts_.attribution.contexts[i])) continue;
      if (facts_.waits.stage_around(id) || facts_.waits.wait_around(id).valid()) continue;
      Interval interval = trace_.ranges.interval(id);
      if (!elsewhere_.empty())
        interval.begin = std::max(interval.begin, elsewhere_.back().interval.end);
      if (!interval.empty()) elsewhere_.push_back({interval, id});
    }
  }

  const GapFacts& facts_;
  const Trace& trace_;
  HostActivity activity_;
  ThreadId thread_;
  std::vector<Elsewhere> elsewhere_;
};

std::vector<bool> processes_with_device_work(const Trace& trace) {
  std::vector<bool> has(trace.processes.size(), false);
  for (StreamId stream : trace.device_ops.stream)
    has[trace.streams[stream.value].process.value] = true;
  return has;
}

struct HostWindows {
  ThreadId thread;
  std::vector<DeviceStep> steps;
};

std::vector<HostWindows> windows_of(const Trace& trace, const Steps& steps) {
  std::vector<bool> has_device = processes_with_device_work(trace);
  std::vector<HostWindows> result;
  for (std::uint32_t i = 0; i < steps.all.size(); ++i) {
    const Step& step = steps.all[i];
    if (has_device[trace.threads[step.thread.value].process.value] || step.cycle().empty())
      continue;
    auto of = std::find_if(result.begin(), result.end(),
                           [&](const HostWindows& w) { return w.thread == step.thread; });
    if (of == result.end()) of = result.insert(result.end(), HostWindows{step.thread, {}});
    DeviceStep window;
    window.step = i;
    window.interval = step.cycle();
    of->steps.push_back(window);
  }
  if (steps.source != StepSource::kNone || trace.device_ops.size() > 0) return result;
  for (std::uint32_t p = 0; p < trace.processes.size(); ++p) {
    ThreadId busiest;
    std::size_t most = 0;
    for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
      std::size_t rows = trace.ranges_of_thread[ThreadId{t}].size();
      if (trace.threads[t].process.value != p || rows <= most) continue;
      busiest = ThreadId{t};
      most = rows;
    }
    if (!busiest.valid()) continue;
    DeviceStep window;
    window.interval = {TimeNs::max(), TimeNs::min()};
    for (RangeId id : trace.ranges_of_thread[busiest]) {
      window.interval.begin = std::min(window.interval.begin, trace.ranges.start[id.value]);
      window.interval.end = std::max(window.interval.end, trace.ranges.end[id.value]);
    }
    if (!window.interval.empty()) result.push_back({busiest, {window}});
  }
  return result;
}

}  // namespace

void partition_hosts(const GapFacts& facts, const Steps& steps,
                     std::vector<DevicePartition>& partitions) {
  for (HostWindows& windows : windows_of(facts.trace, steps)) {
    HostPartitioner partitioner(facts, windows.thread);
    DevicePartition result;
    result.thread = windows.thread;
    std::vector<Segment> pieces;
    for (DeviceStep& step : windows.steps) {
      pieces.clear();
      partitioner.cover(step.interval, pieces);
      step.first_segment = static_cast<std::uint32_t>(result.segments.size());
      for (const Segment& piece : pieces) {
        step.times[piece.time_class] += piece.interval.length();
        bool same = result.segments.size() > step.first_segment &&
                    result.segments.back().time_class == piece.time_class &&
                    result.segments.back().cause == piece.cause;
        if (same) {
          result.segments.back().interval.end = piece.interval.end;
        } else {
          result.segments.push_back(piece);
        }
      }
      step.segment_count = static_cast<std::uint32_t>(result.segments.size()) - step.first_segment;
      HEADWAY_INVARIANT(step.times.total() == step.interval.length());
      result.steps.push_back(step);
    }
    average_steps(facts.names, steps, result);
    partitions.push_back(std::move(result));
  }
}

}  // namespace headway::analyzer
