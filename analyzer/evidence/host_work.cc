// SPDX-License-Identifier: MIT
#include "analyzer/evidence/host_work.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyzer/partition/steady_ops.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr double kMost = 0.5;

/// A frame of the merged stacks (one name under one parent frame) with the time that it fills.
struct Frame {
  std::size_t parent = 0;
  StringId name;
  DurationNs time;
  RangeId longest;
  bool tells = false;  ///< an instance launches nothing and is no step or phase
  int depth = 0;
};

/// A step or a phase: its name does not tell what the thread did in it.
bool is_part_of_step(const Trace& trace, RangeId range) {
  const trace::RangeInfo* info = trace.info(range);
  return info && (info->kind == RangeKind::kStep || info->kind == RangeKind::kPhase);
}

}  // namespace

HostWork dominant_work(const RuleContext& context, ThreadId thread,
                       const std::vector<Interval>& intervals) {
  const Trace& trace = context.trace;
  const Ranges& ranges = trace.ranges;
  DurationNs whole;
  for (const Interval& interval : intervals) whole += interval.length();
  if (whole.ns <= 0 || !thread.valid()) return {};
  std::vector<Frame> frames(1);
  std::map<std::pair<std::size_t, std::uint32_t>, std::size_t> index;
  std::vector<TimeNs> launches;
  for (CallId call : trace.calls_of_thread[thread]) {
    if (trace.calls.op[call.value].valid()) launches.push_back(trace.calls.start[call.value]);
  }
  auto launches_in = [&](const Interval& range) {
    auto first = std::lower_bound(launches.begin(), launches.end(), range.begin);
    return first != launches.end() && *first < range.end;
  };
  std::set<RangeId> steps;
  for (const Step& step : context.steps.all) steps.insert(step.range);
  struct Open {
    TimeNs end;
    std::size_t frame;
  };
  std::vector<Open> open;
  auto rows = trace.ranges_of_thread[thread];
  auto interval = intervals.begin();
  for (RangeId id : rows) {
    const Interval range = ranges.interval(id);
    if (ranges.is(id, Ranges::kMark) || ranges.is(id, Ranges::kStartEnd)) continue;
    // Names of steps may contain numbers. Skipping the steps merges the equal calls below them.
    if (steps.contains(id)) continue;
    while (interval != intervals.end() && interval->end <= range.begin) ++interval;
    if (interval == intervals.end()) break;
    while (!open.empty() && open.back().end <= range.begin) open.pop_back();
    if (range.end <= interval->begin) continue;
    DurationNs time;
    for (auto it = interval; it != intervals.end() && it->begin < range.end; ++it)
      time += intersect(*it, range).length();
    if (time.ns <= 0) continue;
    const std::size_t parent = open.empty() ? 0 : open.back().frame;
    auto [slot, is_new] = index.try_emplace({parent, ranges.name[id.value].value}, frames.size());
    if (is_new) {
      frames.push_back({parent, ranges.name[id.value], {}, id, false, frames[parent].depth + 1});
    }
    Frame& frame = frames[slot->second];
    frame.time += time;
    if (range.length() > ranges.interval(frame.longest).length()) frame.longest = id;
    frame.tells = frame.tells || (!launches_in(range) && !is_part_of_step(trace, id));
    open.push_back({range.end, slot->second});
  }
  const Frame* deepest = nullptr;
  for (std::size_t f = 1; f < frames.size(); ++f) {
    if (!frames[f].tells || ratio(frames[f].time, whole) < kMost) continue;
    if (!deepest || frames[f].depth > deepest->depth) deepest = &frames[f];
  }
  if (!deepest) return {};
  return {trace.strings[deepest->name], std::min(1.0, ratio(deepest->time, whole)),
          EventRef::of(deepest->longest)};
}

std::vector<Interval> steady_intervals(const RuleContext& context, const DevicePartition& device,
                                       std::initializer_list<TimeClass> classes) {
  std::vector<Interval> result;
  for (const DeviceStep& step : device.steps) {
    if (!counts(context.steps, step)) continue;
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = device.segments[step.first_segment + i];
      if (std::find(classes.begin(), classes.end(), segment.time_class) == classes.end()) continue;
      if (!result.empty() && result.back().end == segment.interval.begin)
        result.back().end = segment.interval.end;
      else
        result.push_back(segment.interval);
    }
  }
  return result;
}

HostStop host_stop(const Trace& trace, const Steps& steps, const DevicePartition& device) {
  constexpr double kNearlyAll = 0.7;
  std::vector<double> longest;
  std::vector<double> shares;
  std::map<std::string_view, std::int64_t> next;
  for (const DeviceStep& step : device.steps) {
    if (!counts(steps, step)) continue;
    DurationNs most;
    std::string_view name;
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const std::size_t at = step.first_segment + i;
      const Segment& segment = device.segments[at];
      if (segment.time_class != TimeClass::kHostOther || segment.interval.length() <= most)
        continue;
      most = segment.interval.length();
      name = at + 1 < device.segments.size() ? name_of(trace, device.segments[at + 1].cause) : "";
    }
    longest.push_back(static_cast<double>(most.ns));
    shares.push_back(ratio(most, step.times[TimeClass::kHostOther]));
    ++next[name];
  }
  HostStop stop;
  if (longest.empty() || median(shares) < kNearlyAll) return stop;
  stop.typical = {std::llround(median(longest))};
  for (const auto& [name, count] : next)
    if (2 * count > std::ssize(longest)) stop.next = name;
  return stop;
}

ThreadId thread_of_cause(const Trace& trace, EventRef cause) {
  if (cause.kind == EventRef::Kind::kRange) return trace.ranges.thread[cause.index];
  if (cause.kind == EventRef::Kind::kCall) return trace.calls.thread[cause.index];
  return ThreadId::none();
}

std::vector<bool> training_threads(const RuleContext& context) {
  const Trace& trace = context.trace;
  std::vector<bool> trains(trace.threads.size());
  for (const Step& step : context.steps.all) trains[step.thread.value] = true;
  if (!context.steps.all.empty()) return trains;
  std::vector<std::size_t> launches(trace.threads.size());
  for (std::size_t c = 0; c < trace.calls.size(); ++c)
    launches[trace.calls.thread[c].value] += trace.calls.op[c].valid();
  for (std::uint32_t p = 0; p < trace.processes.size(); ++p) {
    ThreadId most;
    for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
      if (trace.threads[t].process.value != p || launches[t] == 0) continue;
      if (!most.valid() || launches[t] > launches[most.value]) most = ThreadId{t};
    }
    if (most.valid()) trains[most.value] = true;
  }
  return trains;
}

}  // namespace headway::analyzer
