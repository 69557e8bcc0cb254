// SPDX-License-Identifier: MIT
#include "gui/models/flames/call_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analyzer/attribution/attribution.h"
#include "analyzer/stats/summary.h"
#include "common/format.h"
#include "gui/models/details/details.h"
#include "gui/models/details/source_place.h"
#include "gui/models/flames/flame_builder.h"
#include "gui/models/text/display_text.h"

namespace headway::gui {
namespace {

using analyzer::EventRef;
using trace::CallId;
using trace::RangeId;
using trace::ThreadId;

constexpr std::size_t kLookEvery = 1 << 14;

/// The displayed name: "ProfilerStep#7" without the number, "<method items of dict object at
/// 0x7f0e>" without the address, a source line unchanged.
std::string label_of_stack(std::string_view name) {
  if (source_place(name)) return std::string(name);
  constexpr std::string_view kAddress = " at 0x";
  std::string label(name);
  if (const std::size_t at = label.find(kAddress); at != std::string::npos) {
    const std::size_t end = label.find_first_not_of("0123456789abcdefABCDEF", at + kAddress.size());
    label.erase(at, end == std::string::npos ? end : end - at);
  }
  return analyzer::without_numbers(analyzer::without_numbering(label));
}

/// A range that is open while the events of a thread are read in order.
struct Open {
  std::uint32_t node = 0;
  Interval when;  ///< cut to the time range, to the parent, and after earlier events in the parent
  TimeNs done;    ///< the time up to which children have used the parent's time
};

/// Reads one thread. The nesting comes from the parents in the trace, which importers repair. Times
/// are cut so that children neither leave their parent nor overlap.
class StackReader {
 public:
  StackReader(const TimelineModel& model, ThreadId thread, Interval when)
      : trace_(*model.trace), thread_(thread), when_(when), flames_(trace_, label_of_stack) {
    FlameNode& root = flames_.node(0);
    root.name = display_text(thread_label(trace_, thread), 80);
    root.color = ColorRole::kStep;
    root.total = when.length();
    open_.push_back({0, when, when.begin});
  }

  void read(const std::atomic<bool>* cancelled) {
    open_around(when_.begin);
    const auto ranges = trace_.ranges_of_thread[thread_];
    const auto calls = trace_.calls_of_thread[thread_];
    auto range = std::ranges::lower_bound(
        ranges, when_.begin, {}, [&](RangeId id) { return trace_.ranges.start[id.value]; });
    auto call = first_call(calls);
    std::size_t seen = 0;
    while (true) {
      if (seen++ % kLookEvery == 0 && cancelled && *cancelled) return;
      const bool more_ranges =
          range != ranges.end() && trace_.ranges.start[range->value] < when_.end;
      const bool more_calls = call != calls.end() && trace_.calls.start[call->value] < when_.end;
      if (!more_ranges && !more_calls) return;
      // A range that begins at the same time as a call is the call's parent.
      if (more_ranges &&
          (!more_calls || trace_.ranges.start[range->value] <= trace_.calls.start[call->value])) {
        add(*range++);
      } else {
        add(*call++);
      }
    }
  }

  FlameGraph finish() { return flames_.finish(); }

 private:
  /// Opens the ranges that began before the time range, outermost first.
  void open_around(TimeNs t) {
    std::vector<RangeId> around;
    for (RangeId at = analyzer::innermost_range(trace_, thread_, t); at.valid();
         at = trace_.ranges.parent[at.value])
      if (trace_.ranges.start[at.value] < t) around.push_back(at);
    for (auto one = around.rbegin(); one != around.rend(); ++one) add(*one);
  }

  /// Calls of a thread do not overlap; the last call before the time range may reach into it.
  std::span<const CallId>::iterator first_call(std::span<const CallId> calls) const {
    auto first = std::ranges::lower_bound(calls, when_.begin, {},
                                          [&](CallId id) { return trace_.calls.start[id.value]; });
    if (first != calls.begin() && trace_.calls.end[(first - 1)->value] > when_.begin) --first;
    return first;
  }

  void add(RangeId range) {
    constexpr std::uint8_t kOutside = trace::Ranges::kMark | trace::Ranges::kStartEnd;
    if (trace_.ranges.flags[range.value] & kOutside || flames_.is_device_range(range)) return;
    const std::uint32_t parent = open_of(trace_.ranges.parent[range.value]);
    const Interval when = cut(parent, trace_.ranges.interval(range));
    if (when.empty()) return;
    const std::uint32_t node = flames_.range_node(open_[parent].node, range.value);
    count(node, when, EventRef::of(range));
    open_of_[range.value] = static_cast<std::uint32_t>(open_.size());
    open_.push_back({node, when, when.begin});
  }

  void add(CallId call) {
    const Interval whole = trace_.calls.interval(call);
    const std::uint32_t parent =
        open_of(analyzer::innermost_range(trace_, thread_, std::max(whole.begin, when_.begin)));
    const Interval when = cut(parent, whole);
    if (!when.empty())
      count(flames_.call_node(open_[parent].node, call.value), when, EventRef::of(call));
  }

  /// The innermost open range among the range and its ancestors.
  std::uint32_t open_of(RangeId range) const {
    for (; range.valid(); range = trace_.ranges.parent[range.value])
      if (const auto found = open_of_.find(range.value); found != open_of_.end())
        return found->second;
    return 0;
  }

  Interval cut(std::uint32_t parent, Interval when) {
    Open& around = open_[parent];
    when.begin = std::max(when.begin, around.done);
    when.end = std::max(when.begin, std::min(when.end, around.when.end));
    around.done = when.end;
    return when;
  }

  void count(std::uint32_t node, Interval when, EventRef event) {
    flames_.node(node).total += when.length();
    flames_.count(node, when.length(), event);
  }

  const trace::Trace& trace_;
  ThreadId thread_;
  Interval when_;
  FlameBuilder flames_;
  std::vector<Open> open_;  ///< [0] is the root: the time range
  std::unordered_map<std::uint32_t, std::uint32_t> open_of_;
};

bool does_anything(const trace::Trace& trace, ThreadId thread, Interval when) {
  const auto calls = trace.calls_of_thread[thread];
  const auto call = std::ranges::lower_bound(
      calls, when.end, {}, [&](CallId id) { return trace.calls.start[id.value]; });
  if (call != calls.begin() && trace.calls.end[(call - 1)->value] > when.begin) return true;
  if (analyzer::innermost_range(trace, thread, when.begin).valid()) return true;
  const auto ranges = trace.ranges_of_thread[thread];
  const auto range = std::ranges::lower_bound(
      ranges, when.begin, {}, [&](RangeId id) { return trace.ranges.start[id.value]; });
  return range != ranges.end() && trace.ranges.start[range->value] < when.end;
}

ThreadId thread_of(const TimelineModel& model, EventRef event) {
  const trace::Trace& trace = *model.trace;
  switch (event.kind) {
    case EventRef::Kind::kRange:
      return trace.ranges.thread[event.index];
    case EventRef::Kind::kCall:
      return trace.calls.thread[event.index];
    case EventRef::Kind::kDeviceOp: {
      const CallId call = trace.device_ops.call[event.index];
      return call.valid() ? trace.calls.thread[call.value] : ThreadId{};
    }
    case EventRef::Kind::kNone:
      break;
  }
  return {};
}

ThreadId thread_of(const TimelineModel& model, const Target& target) {
  const std::vector<analyzer::Step>& steps = model.analysis->steps.all;
  switch (target.kind) {
    case Target::Kind::kEvent:
      return thread_of(model, target.event);
    case Target::Kind::kStep:
      return steps[target.index].thread;
    case Target::Kind::kSegment: {
      const analyzer::DevicePartition& partition = model.analysis->partitions[target.partition];
      if (partition.thread.valid()) return partition.thread;
      if (!partition.steps.empty() && partition.steps.front().step < steps.size())
        return steps[partition.steps.front().step].thread;
      return thread_of(model, partition.segments[target.index].cause);
    }
    default:
      return {};
  }
}

}  // namespace

StackThreads stack_threads(const TimelineModel& model, Interval when, const Target& about) {
  const trace::Trace& trace = *model.trace;
  StackThreads found;
  if (when.empty()) return found;
  const auto has = [&](ThreadId thread) {
    return thread.valid() && does_anything(trace, thread, when);
  };
  const std::vector<analyzer::Step>& steps = model.analysis->steps.all;
  if (const ThreadId thread = thread_of(model, about); has(thread)) {
    found.first = thread;
  } else if (!steps.empty() && has(steps.front().thread)) {
    found.first = steps.front().thread;
  }
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    const ThreadId thread{t};
    if (thread != found.first && (found.threads.size() + 1 >= StackThreads::kMost || !has(thread)))
      continue;
    found.threads.push_back(thread);
  }
  if (!found.first.valid() && !found.threads.empty()) found.first = found.threads.front();
  return found;
}

FlameGraph make_call_stacks(const TimelineModel& model, ThreadId thread, Interval when,
                            const std::atomic<bool>* cancelled) {
  when.end = std::max(when.begin, when.end);
  StackReader reader(model, thread, when);
  if (cancelled && *cancelled) return reader.finish();
  reader.read(cancelled);
  return reader.finish();
}

std::string most_own_time(const FlameGraph& stacks) {
  std::unordered_map<std::string_view, DurationNs> own;
  for (std::size_t n = 1; n < stacks.nodes.size(); ++n)
    own[stacks.nodes[n].name] += stacks.nodes[n].self;
  std::vector<std::pair<std::string_view, DurationNs>> names(own.begin(), own.end());
  std::ranges::sort(names, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, names.size()); ++i) {
    if (names[i].second.ns <= 0) break;
    text +=
        fmt::format("{}{} {} ({})", i ? ", " : "Most own time: ", display_text(names[i].first, 60),
                    format_duration(names[i].second),
                    format_percent(ratio(names[i].second, stacks.nodes[0].total)));
  }
  return text;
}

}  // namespace headway::gui
