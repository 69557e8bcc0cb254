// SPDX-License-Identifier: MIT
#include "analyzer/partition/gap.h"

#include <algorithm>

namespace headway::analyzer {
namespace {

using namespace trace;

/// A latency is believed up to this multiple of its p95 in this trace; what is longer has a cause that
/// nothing shows.
constexpr std::int64_t kLatencySlack = 3;
/// From the end of a kernel to the start of the next one that waits in the same queue: about 1 µs on
/// NVIDIA GPUs from Volta to Hopper (measured in the real recordings of docs/verdicts.md).
constexpr DurationNs kFrontEnd{1'500};

void push(std::vector<Segment>& out, Interval interval, TimeClass c, EventRef cause) {
  if (!interval.empty()) out.push_back({interval, c, cause});
}

/// Classes that time taken by CUDA or a profiler on the host may hide behind. Not the front end: its
/// op was in the queue before the device ran dry.
bool may_hide_overhead(TimeClass c) {
  return c == TimeClass::kLaunchGap || c == TimeClass::kHostOther ||
         c == TimeClass::kBetweenSteps || c == TimeClass::kUnknown;
}

}  // namespace

GapExplainer::GapExplainer(const GapFacts& facts, const DeviceWork& work)
    : facts_(facts),
      trace_(facts.trace),
      activity_(facts.trace),
      latency_(measure_latencies(facts, work)) {}

void GapExplainer::explain(Interval gap, DeviceOpId next, std::vector<Segment>& out) {
  CallId launch = trace_.device_ops.call[next.value];
  if (!launch.valid()) return explain_without_launch(gap, next, out);
  std::size_t from = out.size();
  DeviceOpId source = facts_.awaited(next);
  if (source.valid() && trace_.device_ops.end[source.value] > gap.begin) {
    // The awaited op runs elsewhere (another device), or it would have made this device busy.
    TimeNs ready = std::min(trace_.device_ops.end[source.value], gap.end);
    push(out, {gap.begin, ready}, facts_.attribution.class_of[source.value], EventRef::of(source));
    gap.begin = ready;
    if (gap.empty()) return;
  }
  EventRef call = EventRef::of(launch);
  TimeNs launched = trace_.calls.start[launch.value];
  ThreadId thread = trace_.calls.thread[launch.value];
  if (RangeId named = facts_.between_range(thread, facts_.attribution.range_of[next.value]);
      named.valid()) {
    // Evaluation, say: its launches are no part of training, and neither are their latencies.
    launched = std::clamp(launched, gap.begin, gap.end);
    Walk walk{thread};
    explain_host({gap.begin, launched}, walk, out);
    return push(out, {launched, gap.end}, TimeClass::kBetweenSteps, EventRef::of(named));
  }
  if (launched <= gap.begin) {
    // Launched before the device ran dry: what is left of the launch latency, then the front end.
    TimeNs arrived = std::clamp(launched + latency_.launch, gap.begin, gap.end);
    push(out, {gap.begin, arrived}, TimeClass::kLaunchGap, call);
    TimeNs believed = std::clamp(arrived + latency_.frontend * kLatencySlack, arrived, gap.end);
    push(out, {arrived, believed}, TimeClass::kFrontendGap, call);
    push(out, {believed, gap.end}, TimeClass::kUnknown, call);
  } else {
    Walk walk{thread};
    launched = std::min(launched, gap.end);
    explain_host({gap.begin, launched}, walk, out);
    // A launch that takes long keeps the op from starting, whatever the usual latency is.
    TimeNs called = trace_.calls.end[launch.value] + latency_.launch;
    TimeNs believed =
        std::clamp(std::max(launched + latency_.launch * kLatencySlack, called), launched, gap.end);
    push(out, {launched, believed}, walk.drained_by.value_or(TimeClass::kLaunchGap), call);
    push(out, {believed, gap.end}, TimeClass::kUnknown, call);
  }
  put_overheads_over(trace_.threads[thread.value].process, from, out);
}

/// Only the device was recorded: the gap between neighbours in a queue is known, the rest is not.
void GapExplainer::explain_without_launch(Interval gap, DeviceOpId next,
                                          std::vector<Segment>& out) const {
  DeviceOpId before = facts_.previous(next);
  bool neighbours = before.valid() && trace_.device_ops.end[before.value] == gap.begin &&
                    gap.length() <= kFrontEnd;
  push(out, gap, neighbours ? TimeClass::kFrontendGap : TimeClass::kUnknown, EventRef::of(next));
}

TimeClass GapExplainer::host_class(const Walk& walk, TimeNs t) const {
  if (walk.drained_by) return *walk.drained_by;
  return facts_.in_step(walk.thread, t) ? TimeClass::kLaunchGap : TimeClass::kBetweenSteps;
}

/// Walks over what a host thread did in `window`. When the device ran dry while the thread was
/// blocked, the refill up to the first launch is the fault of that wait, too.
void GapExplainer::explain_host(Interval window, Walk& walk, std::vector<Segment>& out) {
  std::vector<Activity> activities;
  activity_.in(walk.thread, window, activities);
  TimeNs now = window.begin;
  for (const Activity& activity : activities) {
    explain_nothing({now, activity.interval.begin}, walk, out);
    if (activity.event.kind == EventRef::Kind::kCall && activity.interval.begin == window.begin) {
      const CallId call{activity.event.index};
      if (facts_.blocks(call)) walk.drained_by = TimeClass::kHostSync;
      if (facts_.waits_to_free(call)) walk.drained_by = TimeClass::kAllocator;
    }
    explain_activity(activity, walk, out);
    now = activity.interval.end;
  }
  explain_nothing({now, window.end}, walk, out);
}

void GapExplainer::explain_activity(const Activity& activity, const Walk& walk,
                                    std::vector<Segment>& out) {
  Interval part = activity.interval;
  // What a program says it does between steps is the cause, whatever it calls for that.
  if (RangeId named = facts_.between_range(walk.thread, activity.range); named.valid())
    return push(out, part, TimeClass::kBetweenSteps, EventRef::of(named));
  TimeClass host = host_class(walk, part.begin);
  if (activity.event.kind == EventRef::Kind::kCall) {
    CallId call{activity.event.index};
    DeviceCallKind kind = trace_.calls.kind[call.value];
    bool allocator = kind == DeviceCallKind::kAllocate || kind == DeviceCallKind::kFree;
    TimeClass c = facts_.blocks(call) ? TimeClass::kHostSync
                  : allocator         ? TimeClass::kAllocator
                                      : host;
    return push(out, part, c, activity.event);
  }
  RangeId wait = facts_.waits.wait_around(activity.range);
  if (wait.valid()) return facts_.waits.explain(wait, part, activity_, out);
  if (auto stage = facts_.waits.stage_around(activity.range))
    return push(out, part, *stage, activity.event);
  bool pause = facts_.names[activity.range].pause;
  if (pause && host != TimeClass::kBetweenSteps) host = TimeClass::kHostOther;
  if ((pause || waits_for_partner(activity)) &&
      visit_partner(part, walk, host, activity.event, out))
    return;
  push(out, part, host, activity.event);
}

/// True for the training thread inside the backward pass with no op of its own: autograd's thread
/// works meanwhile.
bool GapExplainer::waits_for_partner(const Activity& activity) const {
  const RangeContext& context = facts_.attribution.contexts[activity.range.value];
  return context.phase == Phase::kBackward && context.op_source != RangeSource::kOperator;
}

/// Explains `part` by what the partner of the thread did; what the partner does not explain gets the
/// class `otherwise`. False, and nothing added, when there is no partner or it did nothing.
bool GapExplainer::visit_partner(Interval part, const Walk& walk, TimeClass otherwise,
                                 EventRef cause, std::vector<Segment>& out) {
  ThreadId partner = facts_.partner(walk.thread);
  if (walk.visiting || !partner.valid()) return false;
  std::vector<Activity> activities;
  activity_.in(partner, part, activities);
  if (activities.empty()) return false;
  Walk visit{partner, walk.drained_by, true};
  TimeNs now = part.begin;
  for (const Activity& activity : activities) {
    push(out, {now, activity.interval.begin}, otherwise, cause);
    explain_activity(activity, visit, out);
    now = activity.interval.end;
  }
  push(out, {now, part.end}, otherwise, cause);
  return true;
}

/// The thread shows no activity. Another thread may act for it: an autograd thread sleeps until the
/// training thread starts the backward pass.
void GapExplainer::explain_nothing(Interval part, const Walk& walk, std::vector<Segment>& out) {
  if (part.empty()) return;
  TimeClass otherwise = walk.drained_by.value_or(
      facts_.in_step(walk.thread, part.begin) ? TimeClass::kHostOther : TimeClass::kBetweenSteps);
  if (visit_partner(part, walk, otherwise, EventRef{}, out)) return;
  // Between two calls of a program that says nothing about itself.
  if (!walk.drained_by && part.length() <= facts_.issue_pause() &&
      trace_.ranges_of_thread[walk.thread].empty()) {
    otherwise = TimeClass::kLaunchGap;
  }
  push(out, part, otherwise, EventRef{});
}

void GapExplainer::put_overheads_over(ProcessId process, std::size_t from,
                                      std::vector<Segment>& out) const {
  const std::vector<GapFacts::Taken>& taken = facts_.taken(process);
  if (taken.empty()) return;
  std::vector<Segment> pieces;
  for (std::size_t i = from; i < out.size(); ++i) {
    Segment segment = out[i];
    if (may_hide_overhead(segment.time_class)) {
      auto it = std::partition_point(taken.begin(), taken.end(), [&](const GapFacts::Taken& t) {
        return t.interval.end <= segment.interval.begin;
      });
      for (; it != taken.end() && it->interval.begin < segment.interval.end; ++it) {
        Interval part = intersect(it->interval, segment.interval);
        push(pieces, {segment.interval.begin, part.begin}, segment.time_class, segment.cause);
        push(pieces, part, it->time_class, segment.cause);
        segment.interval.begin = part.end;
      }
    }
    push(pieces, segment.interval, segment.time_class, segment.cause);
  }
  out.resize(from);
  out.insert(out.end(), pieces.begin(), pieces.end());
}

}  // namespace headway::analyzer
