// SPDX-License-Identifier: MIT
#include "analyzer/partition/gap.h"

#include <algorithm>

namespace headway::analyzer {
namespace {

using namespace trace;

/// A front-end gap is accepted up to this multiple of its p95; what is longer has a cause we do not
/// see.
constexpr std::int64_t kFrontendSlack = 3;

std::vector<DeviceOpId> previous_on_stream(const Trace& trace) {
  std::vector<DeviceOpId> previous(trace.device_ops.size(), DeviceOpId::none());
  for (std::uint32_t s = 0; s < trace.streams.size(); ++s) {
    DeviceOpId last;
    for (DeviceOpId op : trace.ops_of_stream[StreamId{s}]) {
      previous[op.value] = last;
      last = op;
    }
  }
  return previous;
}

void push(std::vector<Segment>& out, Interval interval, TimeClass c, EventRef cause) {
  if (!interval.empty()) out.push_back({interval, c, cause});
}

}  // namespace

GapExplainer::GapExplainer(const Trace& trace, const Attribution& attribution, const Steps& steps,
                           HostActivity& activity, InputWaits& waits, const DeviceWork& work)
    : trace_(trace),
      attribution_(attribution),
      activity_(activity),
      waits_(waits),
      previous_(previous_on_stream(trace)),
      latency_(measure_latencies(trace, work, previous_)) {
  for (const Step& step : steps.all) steps_of_thread_[step.thread].push_back(step.host);
  for (std::uint32_t i = 0; i < trace.calls.size(); ++i) {
    if (trace.calls.kind[i] == DeviceCallKind::kStreamWaitEvent && trace.calls.stream[i].valid()) {
      waits_of_stream_[trace.calls.stream[i]].push_back(CallId{i});
    } else if (trace.calls.kind[i] == DeviceCallKind::kEventRecord && trace.calls.sync_id[i]) {
      records_[{trace.threads[trace.calls.thread[i].value].process, trace.calls.sync_id[i]}] =
          CallId{i};
    }
  }
}

/// The latest op of another stream that `op` had to wait for: through stream-wait-event calls made
/// after the previous op of its stream was launched and before it was launched itself.
GapExplainer::Dependency GapExplainer::last_awaited_event(DeviceOpId op) const {
  Dependency latest{DeviceOpId::none(), TimeNs::min()};
  const DeviceOps& ops = trace_.device_ops;
  const Calls& calls = trace_.calls;
  CallId launch = ops.call[op.value];
  auto waits = waits_of_stream_.find(ops.stream[op.value]);
  if (!launch.valid() || waits == waits_of_stream_.end()) return latest;
  DeviceOpId before = previous_[op.value];
  CallId earlier = before.valid() ? ops.call[before.value] : CallId::none();
  TimeNs from = earlier.valid() ? calls.start[earlier.value] : TimeNs::min();
  auto by_start = [&](CallId call, TimeNs t) { return calls.start[call.value] < t; };
  auto it = std::lower_bound(waits->second.begin(), waits->second.end(), from, by_start);
  for (; it != waits->second.end() && calls.start[it->value] <= calls.start[launch.value]; ++it) {
    auto record = records_.find(
        {trace_.threads[calls.thread[it->value].value].process, calls.sync_id[it->value]});
    if (record == records_.end() || !calls.stream[record->second.value].valid()) continue;
    // The last op launched to the recording stream before the record was made.
    auto stream_ops = trace_.ops_of_stream[calls.stream[record->second.value]];
    TimeNs recorded = calls.start[record->second.value];
    auto after =
        std::partition_point(stream_ops.begin(), stream_ops.end(), [&](DeviceOpId candidate) {
          CallId call = ops.call[candidate.value];
          return (call.valid() ? calls.start[call.value] : ops.start[candidate.value]) < recorded;
        });
    if (after == stream_ops.begin()) continue;
    DeviceOpId source = *(after - 1);
    if (ops.end[source.value] > latest.end) latest = {source, ops.end[source.value]};
  }
  return latest;
}

void GapExplainer::add_latency(Interval window, TimeNs until, TimeClass latency_class,
                               EventRef call, std::vector<Segment>& out) {
  TimeNs cut = std::clamp(until, window.begin, window.end);
  push(out, {window.begin, cut}, latency_class, call);
  push(out, {cut, window.end}, TimeClass::kUnknown, call);
}

void GapExplainer::explain(Interval gap, DeviceOpId next, std::vector<Segment>& out) {
  CallId launch = trace_.device_ops.call[next.value];
  if (!launch.valid()) return push(out, gap, TimeClass::kUnknown, EventRef::of(next));
  Dependency event = last_awaited_event(next);
  if (event.op.valid() && event.end > gap.begin) {
    // The awaited op runs elsewhere (another device), or it would have made this device busy.
    TimeNs ready = std::min(event.end, gap.end);
    push(out, {gap.begin, ready}, busy_class(trace_, attribution_, event.op),
         EventRef::of(event.op));
    gap.begin = ready;
    if (gap.empty()) return;
  }
  EventRef call = EventRef::of(launch);
  TimeNs launched = trace_.calls.start[launch.value];
  if (launched <= gap.begin) {
    // Launched before the device ran dry: what is left of the launch latency, then the front end.
    TimeNs arrived = std::clamp(launched + latency_.launch, gap.begin, gap.end);
    push(out, {gap.begin, arrived}, TimeClass::kLaunchGap, call);
    add_latency({arrived, gap.end}, arrived + latency_.frontend * kFrontendSlack,
                TimeClass::kFrontendGap, call, out);
    return;
  }
  bool drained = false;
  launched = std::min(launched, gap.end);
  explain_host({gap.begin, launched}, trace_.calls.thread[launch.value], drained, out);
  add_latency({launched, gap.end}, launched + latency_.launch,
              drained ? TimeClass::kHostSync : TimeClass::kLaunchGap, call, out);
}

/// Walks over what the launching thread did in `window`. `drained` becomes true when the device ran
/// dry while the thread was blocked: then the refill up to the first launch is the fault of that
/// wait, too.
void GapExplainer::explain_host(Interval window, ThreadId thread, bool& drained,
                                std::vector<Segment>& out) {
  TimeNs now = window.begin;
  for (const Activity& activity : activity_.in(thread, window)) {
    Interval part = intersect(activity.interval, window);
    if (part.empty()) continue;
    explain_nothing({now, part.begin}, thread, drained, out);
    if (activity.event.kind == EventRef::Kind::kCall && part.begin == window.begin &&
        is_blocking(trace_.calls.kind[activity.event.index])) {
      drained = true;
    }
    explain_activity(activity, part, thread, drained, out);
    now = part.end;
  }
  explain_nothing({now, window.end}, thread, drained, out);
}

void GapExplainer::explain_activity(const Activity& activity, Interval part, ThreadId thread,
                                    bool drained, std::vector<Segment>& out) {
  TimeClass host = drained                       ? TimeClass::kHostSync
                   : in_step(thread, part.begin) ? TimeClass::kLaunchGap
                                                 : TimeClass::kHostOther;
  if (activity.event.kind == EventRef::Kind::kCall) {
    DeviceCallKind kind = trace_.calls.kind[activity.event.index];
    bool allocator = kind == DeviceCallKind::kAllocate || kind == DeviceCallKind::kFree;
    TimeClass c = is_blocking(kind) ? TimeClass::kHostSync
                  : allocator       ? TimeClass::kAllocator
                                    : host;
    return push(out, part, c, activity.event);
  }
  RangeId wait = waits_.wait_around(activity.range);
  if (wait.valid()) return waits_.explain(wait, part, out);
  if (auto stage = waits_.stage_around(activity.range))
    return push(out, part, *stage, activity.event);
  push(out, part, host, activity.event);
}

/// True when no steps are known: then the whole trace counts as training.
bool GapExplainer::in_step(ThreadId thread, TimeNs t) const {
  auto steps = steps_of_thread_.find(thread);
  // A thread without steps of its own works for the training thread (autograd).
  if (steps == steps_of_thread_.end()) return true;
  auto after = std::upper_bound(steps->second.begin(), steps->second.end(), t,
                                [](TimeNs time, const Interval& i) { return time < i.begin; });
  return after != steps->second.begin() && (after - 1)->contains(t);
}

/// The thread shows no activity. Another thread may act for it: an autograd thread sleeps until the
/// training thread starts the backward pass.
void GapExplainer::explain_nothing(Interval part, ThreadId thread, bool drained,
                                   std::vector<Segment>& out) {
  if (part.empty()) return;
  ProcessId process = trace_.threads[thread.value].process;
  for (const auto& [trainer, unused] : steps_of_thread_) {
    if (trainer == thread || trace_.threads[trainer.value].process != process) continue;
    TimeNs now = part.begin;
    for (const Activity& activity : activity_.in(trainer, part)) {
      Interval inner = intersect(activity.interval, part);
      push(out, {now, inner.begin}, TimeClass::kHostOther, EventRef{});
      explain_activity(activity, inner, trainer, drained, out);
      now = inner.end;
    }
    push(out, {now, part.end}, TimeClass::kHostOther, EventRef{});
    return;
  }
  push(out, part, drained ? TimeClass::kHostSync : TimeClass::kHostOther, EventRef{});
}

}  // namespace headway::analyzer
