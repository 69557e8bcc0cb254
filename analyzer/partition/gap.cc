// SPDX-License-Identifier: MIT
#include "analyzer/partition/gap.h"

#include <algorithm>

namespace headway::analyzer {
namespace {

using namespace trace;

/// A latency counts up to this multiple of its p95 in this trace; the remainder has a cause that was not
/// recorded.
constexpr std::int64_t kLatencySlack = 3;
/// From the end of a kernel to the start of the next one that waits in the same queue: about 1 µs on
/// NVIDIA GPUs from Volta to Hopper (measured in the real recordings of docs/verdicts.md).
constexpr DurationNs kFrontEnd{1'500};

void push(std::vector<Segment>& out, Interval interval, TimeClass c, EventRef cause,
          std::optional<TimeClass> refill = {}) {
  if (!interval.empty()) out.push_back({interval, c, cause, refill});
}

/// True for a CUDA device that is the only one with work: no call can wait for another one.
bool is_lone_cuda(const Trace& trace, DeviceId device) {
  if (trace.devices[device.value].type != DeviceType::kCuda) return false;
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    if (trace.streams[s].device != device && !trace.ops_of_stream[StreamId{s}].empty())
      return false;
  }
  return true;
}

/// Classes under which time that CUDA or a profiler took on the host may appear. Not the front end: its
/// op was in the queue before the device ran dry.
bool may_hide_overhead(TimeClass c) {
  return c == TimeClass::kLaunchGap || c == TimeClass::kHostOther ||
         c == TimeClass::kBetweenSteps || c == TimeClass::kUnknown;
}

}  // namespace

GapExplainer::GapExplainer(const GapFacts& facts, const DeviceWork& work)
    : facts_(facts),
      trace_(facts.trace),
      lone_cuda_device_(is_lone_cuda(facts.trace, work.device)),
      activity_(facts.trace),
      latency_(measure_latencies(facts, work)) {}

void GapExplainer::explain(Interval gap, DeviceOpId next, std::vector<Segment>& out) {
  CallId launch = trace_.device_ops.call[next.value];
  if (!launch.valid()) return explain_without_launch(gap, next, out);
  std::size_t from = out.size();
  dry_since_ = gap.begin;
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
  if (RangeId named = facts_.between_range(next); named.valid()) {
    // For example evaluation: neither its launches nor their latencies are part of training.
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
    // A long launch call delays the op, whatever the usual latency is.
    TimeNs called = trace_.calls.end[launch.value] + latency_.launch;
    TimeNs believed =
        std::clamp(std::max(launched + latency_.launch * kLatencySlack, called), launched, gap.end);
    push_refill({launched, believed}, walk, TimeClass::kLaunchGap, call, out);
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

/// The refill of a queue is charged to the wait that drained it, as far as the host would have been
/// ahead without that wait. Making input is not part of the refill.
void GapExplainer::push_refill(Interval part, const Walk& walk, TimeClass own, EventRef cause,
                               std::vector<Segment>& out) {
  if (walk.drained_by && info(own).group != TimeGroup::kInput) {
    const TimeNs until = std::min(part.end, part.begin + lost_lead_);
    push(out, {part.begin, until}, *walk.drained_by, cause, own);
    lost_lead_ = lost_lead_ - (until - part.begin);
    part.begin = until;
  }
  push(out, part, own, cause);
}

/// Walks over what a host thread did in `window`. When the device ran dry while the thread was
/// blocked, the refill up to the first launch is charged to that wait, too.
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
      if (walk.drained_by) lost_lead_ += window.begin - trace_.calls.start[call.value];
    }
    explain_activity(activity, walk, out);
    now = activity.interval.end;
  }
  explain_nothing({now, window.end}, walk, out);
}

void GapExplainer::explain_activity(const Activity& activity, const Walk& walk,
                                    std::vector<Segment>& out) {
  Interval part = activity.interval;
  // A range that declares work between steps is the cause, whatever calls are in it.
  if (RangeId named = facts_.between_range(walk.thread, activity.range); named.valid())
    return push(out, part, TimeClass::kBetweenSteps, EventRef::of(named));
  const TimeClass host = facts_.host_class(walk.thread, part, activity.range, places_);
  if (activity.event.kind == EventRef::Kind::kCall) {
    CallId call{activity.event.index};
    DeviceCallKind kind = trace_.calls.kind[call.value];
    bool allocator = kind == DeviceCallKind::kAllocate || kind == DeviceCallKind::kFree;
    if (facts_.blocks(call)) return explain_block(part, call, out);
    if (allocator) return push(out, part, TimeClass::kAllocator, activity.event);
    return push_refill(part, walk, host, activity.event, out);
  }
  RangeId wait = facts_.waits.wait_around(activity.range);
  if (wait.valid()) return facts_.waits.explain(wait, part, activity_, out);
  if (auto stage = facts_.waits.stage_around(activity.range))
    return push(out, part, *stage, activity.event);
  bool pause = facts_.names[activity.range].pause;
  if ((pause || waits_for_partner(activity)) &&
      visit_partner(part, walk, host, activity.event, out))
    return;
  const bool around_steps = host == TimeClass::kBetweenSteps && activity.range.valid() &&
                            !facts_.lies_between(walk.thread, activity.range);
  push_refill(part, walk, host, around_steps ? EventRef{} : activity.event, out);
}

/// A call that waits although all recorded work has ended waits for work that was not recorded, beyond
/// what waking up takes. With several devices it may wait for another one.
void GapExplainer::explain_block(Interval part, CallId call, std::vector<Segment>& out) const {
  TimeNs believed = part.end;
  if (lone_cuda_device_ && only_waits(trace_.calls.kind[call.value])) {
    TimeNs waits_since = std::max(dry_since_, trace_.calls.start[call.value]);
    believed = std::clamp(waits_since + latency_.sync * kLatencySlack, part.begin, part.end);
  }
  push(out, {part.begin, believed}, TimeClass::kHostSync, EventRef::of(call));
  push(out, {believed, part.end}, TimeClass::kUnknown, EventRef::of(call));
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
    push_refill({now, activity.interval.begin}, visit, otherwise, cause, out);
    explain_activity(activity, visit, out);
    now = activity.interval.end;
  }
  push_refill({now, part.end}, visit, otherwise, cause, out);
  return true;
}

/// The thread shows no activity. Another thread may act for it: an autograd thread sleeps until the
/// training thread starts the backward pass.
void GapExplainer::explain_nothing(Interval part, const Walk& walk, std::vector<Segment>& out) {
  if (part.empty()) return;
  const TimeClass otherwise = facts_.host_class(walk.thread, part, RangeId::none(), places_);
  if (!visit_partner(part, walk, otherwise, EventRef{}, out))
    push_refill(part, walk, otherwise, EventRef{}, out);
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
        push(pieces, {segment.interval.begin, part.begin}, segment.time_class, segment.cause,
             segment.refill);
        push(pieces, part, it->time_class, segment.cause);
        segment.interval.begin = part.end;
      }
    }
    push(pieces, segment.interval, segment.time_class, segment.cause, segment.refill);
  }
  out.resize(from);
  out.insert(out.end(), pieces.begin(), pieces.end());
}

}  // namespace headway::analyzer
