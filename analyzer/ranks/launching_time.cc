// SPDX-License-Identifier: MIT
#include "analyzer/ranks/launching_time.h"

#include <algorithm>
#include <vector>

#include "analyzer/partition/gap_facts.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

using namespace trace;
using conventions::DeviceCallKind;

/// A call this long may wait: for the driver's lock, for room in a queue, for a copy.
constexpr DurationNs kShort{20'000};
/// No launch takes this long by itself.
constexpr DurationNs kLongLaunch{100'000};
/// Without a launch for this long, a thread may wait for something that was not recorded.
constexpr DurationNs kLongPause{1'000'000};

bool is_launch(DeviceCallKind kind) {
  return kind == DeviceCallKind::kLaunch || kind == DeviceCallKind::kGraphLaunch;
}

/// Launches up to this long do not wait. The quickest tenth shows what they take by themselves: a full queue
/// holds up the others.
DurationNs longest_launch(const Calls& calls) {
  std::vector<double> lengths;
  for (std::uint32_t c = 0; c < calls.size(); ++c) {
    if (is_launch(calls.kind[c]))
      lengths.push_back(static_cast<double>(calls.interval(CallId{c}).length().ns));
  }
  if (lengths.empty()) return kShort;
  std::ranges::sort(lengths);
  const DurationNs usual{static_cast<std::int64_t>(percentile_sorted(lengths, 0.1))};
  return std::clamp(std::min(usual, kLongLaunch) * 3, kShort, kLongLaunch);
}

/// When a thread of `process` waits, or none launches anything; by begin.
std::vector<Interval> waits_of(const Trace& trace, const Attribution& attribution,
                               ProcessId process) {
  auto belongs = [&](ThreadId thread) { return trace.threads[thread.value].process == process; };
  std::vector<Interval> waits;
  const DurationNs longest = longest_launch(trace.calls);
  TimeNs launched = TimeNs::min();
  auto pause_until = [&](TimeNs time) {
    if (launched == TimeNs::min() || time - launched > kLongPause)
      waits.push_back({launched, time});
  };
  for (std::uint32_t c = 0; c < trace.calls.size(); ++c) {
    if (!belongs(trace.calls.thread[c])) continue;
    const DeviceCallKind kind = trace.calls.kind[c];
    const Interval call = trace.calls.interval(CallId{c});
    if (is_blocking(kind) || call.length() > (is_launch(kind) ? longest : kShort))
      waits.push_back(call);
    if (!enqueues(trace.calls, CallId{c})) continue;
    pause_until(call.begin);
    launched = std::max(launched, call.end);
  }
  waits.push_back({launched, TimeNs::max()});
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const RangeContext& context = attribution.contexts[r];
    if ((context.input_wait || context.communication) && belongs(trace.ranges.thread[r]))
      waits.push_back({trace.ranges.start[r], trace.ranges.end[r]});
  }
  std::ranges::sort(waits, {}, &Interval::begin);
  return waits;
}

}  // namespace

DurationNs launching_time(const Trace& trace, const Steps& steps, const Attribution& attribution) {
  if (steps.steady.empty()) return {};
  const ThreadId thread = steps.all[steps.steady.front()].thread;
  const std::vector<Interval> waits =
      waits_of(trace, attribution, trace.threads[thread.value].process);
  DurationNs time;
  std::int64_t count = 0;
  auto wait = waits.begin();
  TimeNs waited_to = TimeNs::min();
  for (std::uint32_t s : steps.steady) {
    const Step& step = steps.all[s];
    if (step.thread != thread) continue;
    time += step.cycle().length();
    ++count;
    time -= intersect(step.cycle(), {step.cycle().begin, waited_to}).length();
    for (; wait != waits.end() && wait->begin < step.next; ++wait) {
      time -= intersect(step.cycle(), {std::max(wait->begin, waited_to), wait->end}).length();
      waited_to = std::max(waited_to, wait->end);
    }
  }
  return time / count;
}

}  // namespace headway::analyzer
