// SPDX-License-Identifier: MIT
#include "analyzer/partition/gap_facts.h"

#include <algorithm>
#include <tuple>

namespace headway::analyzer {
namespace {

using namespace trace;

/// A pause is part of issuing work up to this multiple of the usual pause: in it the thread could have
/// issued as many ops.
constexpr std::int64_t kPauseSlack = 8;

std::vector<DeviceOpId> previous_on_stream(const Trace& trace) {
  std::vector<DeviceOpId> previous(trace.device_ops.size());
  std::vector<DeviceOpId> last(trace.streams.size());
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    DeviceOpId& before = last[trace.device_ops.stream[i].value];
    previous[i] = before;
    before = DeviceOpId{i};
  }
  return previous;
}

/// The median pause between calls that enqueue work, from a sample. For threads that mostly issue without pauses, the median
/// call: their few pauses say nothing about issuing. Calls in between that enqueue nothing (queries of a stream's state,
/// event records) are part of issuing.
DurationNs usual_pause(const Trace& trace, const std::vector<std::vector<CallId>>& enqueues) {
  constexpr std::size_t kSample = 100'000;
  const Calls& calls = trace.calls;
  std::vector<std::int64_t> pauses;
  std::vector<std::int64_t> without;  // lengths of calls without a pause before
  for (const std::vector<CallId>& rows : enqueues) {
    for (std::size_t i = 1; i < rows.size() && pauses.size() < kSample; ++i) {
      // A graph or a compiled program is all that a step issues: the time before the next is not a pause.
      if (calls.kind[rows[i - 1].value] == DeviceCallKind::kGraphLaunch ||
          calls.kind[rows[i].value] == DeviceCallKind::kGraphLaunch)
        continue;
      DurationNs pause = calls.start[rows[i].value] - calls.end[rows[i - 1].value];
      if (pause.ns > 0) pauses.push_back(pause.ns);
      if (pause.ns == 0 && without.size() < kSample)
        without.push_back((calls.end[rows[i].value] - calls.start[rows[i].value]).ns);
    }
  }
  std::vector<std::int64_t>& usual = without.size() > pauses.size() ? without : pauses;
  if (usual.empty()) return {};
  auto middle = usual.begin() + static_cast<std::ptrdiff_t>(usual.size() / 2);
  std::nth_element(usual.begin(), middle, usual.end());
  return {*middle};
}

TimeClass class_of(Overhead::Kind kind) {
  switch (kind) {
    case Overhead::Kind::kModuleLoad:
      return TimeClass::kHostOther;
    case Overhead::Kind::kQueueFull:
      return TimeClass::kLaunchGap;
    case Overhead::Kind::kAllocation:
      return TimeClass::kAllocator;
    case Overhead::Kind::kProfiler:
    case Overhead::Kind::kOther:
      break;
  }
  return TimeClass::kProfiler;
}

}  // namespace

bool enqueues(const Calls& calls, CallId call) {
  if (calls.op[call.value].valid()) return true;
  switch (calls.kind[call.value]) {
    case DeviceCallKind::kLaunch:
    case DeviceCallKind::kGraphLaunch:
    case DeviceCallKind::kCopy:
    case DeviceCallKind::kCopyBlocking:
    case DeviceCallKind::kMemset:
      return true;
    default:
      return false;
  }
}

GapFacts::GapFacts(const Trace& t, const RangeNames& n, const Attribution& a, const Steps& steps)
    : trace(t),
      names(n),
      attribution(a),
      waits(t, a),
      previous_(previous_on_stream(t)),
      waits_of_stream_(t.streams.size()),
      steps_of_thread_(t.threads.size()) {
  find_enqueues();
  issue_pause_ = usual_pause(t, enqueues_) * kPauseSlack;
  for (const Step& step : steps.all) steps_of_thread_[step.thread.value].push_back(step.host);
  for (std::uint32_t i = 0; i < trace.ranges.size() && !any_between_; ++i)
    any_between_ = names[RangeId{i}].between != BetweenCause::kOther;
  if (any_between_) find_rare_names();
  const Calls& calls = trace.calls;
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    if (calls.sync_id[i] == 0) continue;
    if (calls.kind[i] == DeviceCallKind::kStreamWaitEvent && calls.stream[i].valid()) {
      waits_of_stream_[calls.stream[i].value].push_back(CallId{i});
    } else if (calls.kind[i] == DeviceCallKind::kEventRecord && calls.stream[i].valid()) {
      records_.push_back({trace.threads[calls.thread[i].value].process, calls.sync_id[i],
                          calls.start[i], CallId{i}});
    }
  }
  std::sort(records_.begin(), records_.end(), [](const Record& x, const Record& y) {
    return std::tie(x.process, x.sync_id, x.start, x.call) <
           std::tie(y.process, y.sync_id, y.start, y.call);
  });
  find_partners(steps);
  find_taken();
}

DeviceOpId GapFacts::awaited(DeviceOpId op) const {
  const DeviceOps& ops = trace.device_ops;
  const Calls& calls = trace.calls;
  CallId launch = ops.call[op.value];
  const std::vector<CallId>& waits_here = waits_of_stream_[ops.stream[op.value].value];
  DeviceOpId latest;
  if (!launch.valid() || waits_here.empty()) return latest;
  DeviceOpId before = previous_[op.value];
  CallId earlier = before.valid() ? ops.call[before.value] : CallId::none();
  TimeNs from = earlier.valid() ? calls.start[earlier.value] : TimeNs::min();
  auto it = std::lower_bound(waits_here.begin(), waits_here.end(), from,
                             [&](CallId call, TimeNs t) { return calls.start[call.value] < t; });
  for (; it != waits_here.end() && calls.start[it->value] <= calls.start[launch.value]; ++it) {
    // The last record with this id before the wait: some recorders reuse ids.
    auto key = std::tuple(trace.threads[calls.thread[it->value].value].process,
                          calls.sync_id[it->value], calls.start[it->value]);
    auto record =
        std::upper_bound(records_.begin(), records_.end(), key, [](const auto& k, const Record& r) {
          return k < std::tuple(r.process, r.sync_id, r.start);
        });
    if (record == records_.begin()) continue;
    --record;
    if (record->process != std::get<0>(key) || record->sync_id != std::get<1>(key)) continue;
    // The last op launched to the recording stream before the record was made.
    auto stream_ops = trace.ops_of_stream[calls.stream[record->call.value]];
    auto after =
        std::partition_point(stream_ops.begin(), stream_ops.end(), [&](DeviceOpId candidate) {
          CallId call = ops.call[candidate.value];
          return (call.valid() ? calls.start[call.value] : ops.start[candidate.value]) <
                 record->start;
        });
    if (after == stream_ops.begin()) continue;
    DeviceOpId source = *(after - 1);
    if (!latest.valid() || ops.end[source.value] > ops.end[latest.value]) latest = source;
  }
  return latest;
}

bool GapFacts::in_step(ThreadId thread, TimeNs t) const {
  const std::vector<Interval>& steps = steps_of_thread_[thread.value];
  if (steps.empty()) return true;
  auto after = std::upper_bound(steps.begin(), steps.end(), t,
                                [](TimeNs time, const Interval& i) { return time < i.begin; });
  return after != steps.begin() && (after - 1)->contains(t);
}

Interval GapFacts::step_around(ThreadId thread, TimeNs t) const {
  const std::vector<Interval>& steps = steps_of_thread_[thread.value];
  return *(std::upper_bound(steps.begin(), steps.end(), t,
                            [](TimeNs time, const Interval& i) { return time < i.begin; }) -
           1);
}

Interval GapFacts::pause_between_steps(ThreadId thread, TimeNs t) const {
  const std::vector<Interval>& steps = steps_of_thread_[thread.value];
  auto after = std::upper_bound(steps.begin(), steps.end(), t,
                                [](TimeNs time, const Interval& i) { return time < i.begin; });
  return {after == steps.begin() ? TimeNs::min() : (after - 1)->end,
          after == steps.end() ? TimeNs::max() : after->begin};
}

bool GapFacts::lies_between(ThreadId thread, RangeId range) const {
  const Interval pause = pause_between_steps(thread, trace.ranges.start[range.value]);
  return trace.ranges.start[range.value] >= pause.begin &&
         trace.ranges.end[range.value] <= pause.end;
}

RangeId GapFacts::between_range(ThreadId thread, RangeId range) const {
  const std::vector<Interval>& steps = steps_of_thread_[thread.value];
  if (!any_between_ || steps.empty() || !range.valid()) return RangeId::none();
  const Ranges& ranges = trace.ranges;
  if (ranges.thread[range.value] != thread) return RangeId::none();
  const bool inside = in_step(thread, ranges.start[range.value]);
  const Interval around = inside ? step_around(thread, ranges.start[range.value])
                                 : pause_between_steps(thread, ranges.start[range.value]);
  RangeId found;
  for (; range.valid() && ranges.start[range.value] >= around.begin &&
         ranges.end[range.value] <= around.end;
       range = ranges.parent[range.value]) {
    if (names.source(range) == RangeSource::kOperator) continue;
    if (names[range].between == BetweenCause::kOther) continue;
    if (!inside || interrupts_step(range)) found = range;
  }
  return found;
}

RangeId GapFacts::between_range(DeviceOpId op) const {
  const CallId call = trace.device_ops.call[op.value];
  const RangeId launched_in = attribution.range_of[op.value];
  if (!any_between_ || !call.valid() || !launched_in.valid()) return RangeId::none();
  return between_range(trace.calls.thread[call.value], launched_in);
}

bool GapFacts::interrupts_step(RangeId range) const {
  const NameFacts& name = names[range];
  // A declared phase takes precedence over the name: a model in evaluation mode may be trained.
  if (const trace::RangeInfo* info = trace.info(range);
      info && name.between == BetweenCause::kEvaluation)
    return info->phase == Phase::kEvaluation;
  return name.never_a_step || rare_[name.base];
}

/// Where most steps validate, save or log, that is work of the step.
void GapFacts::find_rare_names() {
  std::vector<std::size_t> steps_with(names.base_count());
  std::vector<std::pair<ThreadId, TimeNs>> last(names.base_count(), {ThreadId::none(), {}});
  std::size_t all = 0;
  for (const std::vector<Interval>& steps : steps_of_thread_) all += steps.size();
  for (std::uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const NameFacts& name = names[RangeId{i}];
    const ThreadId thread = trace.ranges.thread[i];
    if (name.between == BetweenCause::kOther || steps_of_thread_[thread.value].empty() ||
        !in_step(thread, trace.ranges.start[i]))
      continue;
    const std::pair step{thread, step_around(thread, trace.ranges.start[i]).begin};
    if (last[name.base] == step) continue;
    last[name.base] = step;
    ++steps_with[name.base];
  }
  rare_.resize(names.base_count());
  for (std::size_t base = 0; base < rare_.size(); ++base) rare_[base] = steps_with[base] * 2 <= all;
}

bool GapFacts::blocks(CallId call) const {
  DeviceCallKind kind = trace.calls.kind[call.value];
  if (is_blocking(kind)) return true;
  DeviceOpId op = trace.calls.op[call.value];
  return kind == DeviceCallKind::kCopy && op.valid() &&
         trace.device_ops.kind[op.value] == DeviceOpKind::kCopyDeviceToHost &&
         trace.calls.end[call.value] >= trace.device_ops.end[op.value];
}

bool GapFacts::waits_to_free(CallId call) const {
  return trace.calls.kind[call.value] == DeviceCallKind::kFree &&
         trace.strings[trace.calls.name[call.value]].find("Async") == std::string_view::npos;
}

void GapFacts::find_enqueues() {
  enqueues_.resize(trace.threads.size());
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    for (CallId call : trace.calls_of_thread[ThreadId{t}]) {
      if (enqueues(trace.calls, call)) enqueues_[t].push_back(call);
    }
  }
  issues_.resize(trace.ranges.size());
  for (std::uint32_t op = 0; op < trace.device_ops.size(); ++op) {
    for (RangeId r = attribution.range_of[op]; r.valid() && !issues_[r.value];
         r = trace.ranges.parent[r.value])
      issues_[r.value] = true;
  }
}

GapFacts::Pause GapFacts::pause_at(ThreadId thread, TimeNs t, HostPlaces& places) const {
  constexpr int kNear = 4;
  const std::vector<CallId>& rows = enqueues_[thread.value];
  const Calls& calls = trace.calls;
  if (places.next.empty()) places.next.resize(enqueues_.size());
  std::size_t& place = places.next[thread.value];
  auto begun = [&](CallId call) { return calls.start[call.value] <= t; };
  auto next = rows.begin() + static_cast<std::ptrdiff_t>(place);
  if (place > 0 && !begun(rows[place - 1])) next = rows.begin();
  for (int i = 0; i < kNear && next != rows.end() && begun(*next); ++i) ++next;
  if (next != rows.end() && begun(*next)) next = std::partition_point(next, rows.end(), begun);
  place = static_cast<std::size_t>(next - rows.begin());
  Pause pause{{t, t}, false};
  if (next != rows.begin()) {
    pause.interval.begin = calls.end[(next - 1)->value];
    if (t < pause.interval.begin) return {{t, t}, false};  // inside such a call
  } else {
    auto ranges = trace.ranges_of_thread[thread];
    pause.interval.begin =
        ranges.empty() ? t : std::min(t, trace.ranges.start[ranges.front().value]);
  }
  if (next == rows.end()) {
    pause.interval.end = trace.end;
    return pause;
  }
  pause.interval.end = calls.start[next->value];
  DeviceOpId op = calls.op[next->value];
  pause.feeds_device =
      op.valid() && trace.device_ops.kind[op.value] == DeviceOpKind::kCopyHostToDevice;
  return pause;
}

/// By the names of what runs wholly inside the pause: what lies around it says nothing about it.
TimeClass GapFacts::class_of_input(RangeId range, const Interval& pause) const {
  for (RangeId r = range; r.valid(); r = trace.ranges.parent[r.value]) {
    if (trace.ranges.start[r.value] < pause.begin || trace.ranges.end[r.value] > pause.end) break;
    if (auto stage = class_of_loader_name(trace.strings[trace.ranges.name[r.value]])) return *stage;
  }
  return TimeClass::kInputOther;
}

TimeClass GapFacts::host_class(ThreadId thread, Interval part, RangeId range,
                               HostPlaces& places) const {
  if (!in_step(thread, part.begin)) return TimeClass::kBetweenSteps;
  if (range.valid() && names[range].pause) return TimeClass::kHostOther;
  const Pause pause = pause_at(thread, part.begin, places);
  if (pause.interval.length() <= issue_pause_) return TimeClass::kLaunchGap;
  if (!range.valid()) return TimeClass::kHostOther;
  // Issuing consists of many short functions. One as long as issuing several ops does its own work.
  const bool works = part.length() > issue_pause_ && !issues_[range.value];
  for (RangeId r = range; !works && r.valid(); r = trace.ranges.parent[r.value]) {
    if (!issues_[r.value]) continue;
    const RangeSource source = names.source(r);
    const trace::RangeInfo* info = trace.info(r);
    const bool op = source == RangeSource::kOperator ||
                    (source == RangeSource::kNvtx && info && info->kind == RangeKind::kOp);
    if (op || names[r].module_part) return TimeClass::kLaunchGap;
  }
  const RangeSource source = names.source(range);
  const bool of_program = source == RangeSource::kOperator || source == RangeSource::kPython;
  const Phase phase = attribution.contexts[range.value].phase;
  if (pause.feeds_device && of_program && phase != Phase::kUpdate && phase != Phase::kBackward)
    return class_of_input(range, pause.interval);
  return TimeClass::kHostOther;
}

void GapFacts::find_partners(const Steps& steps) {
  std::vector<std::size_t> launches(trace.threads.size(), 0);
  for (std::size_t i = 0; i < trace.calls.size(); ++i)
    launches[trace.calls.thread[i].value] += trace.calls.op[i].valid();
  std::vector<ThreadId> trainer(trace.processes.size());
  for (const Step& step : steps.all) {
    ThreadId& of = trainer[trace.threads[step.thread.value].process.value];
    if (!of.valid()) of = step.thread;
  }
  auto most_launches = [&](ProcessId process, ThreadId except) {
    ThreadId best;
    for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
      if (trace.threads[t].process != process || ThreadId{t} == except || launches[t] == 0)
        continue;
      if (!best.valid() || launches[t] > launches[best.value]) best = ThreadId{t};
    }
    return best;
  };
  for (std::uint32_t p = 0; p < trace.processes.size(); ++p) {
    if (!trainer[p].valid()) trainer[p] = most_launches(ProcessId{p}, ThreadId::none());
  }
  partner_.assign(trace.threads.size(), ThreadId::none());
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    ProcessId process = trace.threads[t].process;
    bool trains = trainer[process.value] == ThreadId{t};
    partner_[t] = trains ? most_launches(process, ThreadId{t}) : trainer[process.value];
  }
}

void GapFacts::find_taken() {
  taken_.resize(trace.processes.size());
  for (const Overhead& overhead : trace.overheads) {
    if (overhead.interval.empty()) continue;
    for (std::uint32_t p = 0; p < trace.processes.size(); ++p) {
      if (overhead.thread.valid() && trace.threads[overhead.thread.value].process.value != p)
        continue;
      Interval interval = overhead.interval;
      std::vector<Taken>& taken = taken_[p];
      if (!taken.empty()) interval.begin = std::max(interval.begin, taken.back().interval.end);
      if (!interval.empty()) taken.push_back({interval, class_of(overhead.kind)});
    }
  }
}

}  // namespace headway::analyzer
