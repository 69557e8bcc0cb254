// SPDX-License-Identifier: MIT
#include "analyzer/partition/sampled_work.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/partition/steady_ops.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr double kOwnPlace = 0.02;         ///< of the step
constexpr std::int64_t kUnitNs = 1'000;    ///< unit of the time that a sample stands for
constexpr std::int64_t kLeastInAll = 10;   ///< samples
constexpr std::int64_t kLeastSamples = 3;  ///< of one function; fewer are chance

struct StackFrame {
  std::string_view function;
  std::string_view file;
  std::string_view line;
};

/// "step (cartpole.py:71)"; the name of a function may hold brackets: "<listcomp>", "f.<locals>.g".
StackFrame frame_of(std::string_view text) {
  const std::size_t open = text.rfind(" (");
  const std::size_t colon = text.rfind(':');
  if (open == std::string_view::npos || colon == std::string_view::npos || colon < open) return {};
  return {text.substr(0, open), text.substr(open + 2, colon - open - 2),
          text.substr(colon + 1, text.size() - colon - 2)};
}

/// Outermost first. Of PyTorch's own frames only the one that the program calls: what decorates it
/// and what it calls say less.
std::vector<StackFrame> frames_of(std::string_view stack) {
  std::vector<StackFrame> frames;
  while (!stack.empty()) {
    const std::size_t end = stack.rfind(';');
    const StackFrame frame =
        frame_of(end == std::string_view::npos ? stack : stack.substr(end + 1));
    stack = end == std::string_view::npos ? std::string_view() : stack.substr(0, end);
    const bool of_torch = frame.file.starts_with("torch/");
    if (frame.function.empty() ||
        (of_torch && frame.function.find("<locals>") != std::string_view::npos))
      continue;
    frames.push_back(frame);
    if (of_torch) break;
  }
  return frames;
}

struct Amount {
  DurationNs time;
  std::int64_t samples = 0;

  void add(DurationNs more) {
    time += more;
    ++samples;
  }
};
using Lines = std::map<std::string_view, Amount>;

std::string_view longest(const Lines& lines) {
  auto most = std::max_element(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.second.time < b.second.time;
  });
  return most == lines.end() ? std::string_view() : most->first;
}

/// A function that was called by the same functions, whatever their lines.
struct Node {
  StackFrame frame;
  std::vector<std::size_t> children;
  Amount total;
  Lines calls;      ///< the caller's lines
  Lines lines;      ///< its own lines, with what they call
  Lines innermost;  ///< its own lines, without what they call

  /// Without a line: all else in the function.
  std::string place(std::string_view line) const {
    return std::string(frame.file) + (line.empty() ? "" : ":") + std::string(line);
  }
  std::string at_line(std::string_view line) const {
    return std::string(frame.function) + " (" + place(line) + ")";
  }
};

class Tree {
 public:
  void add(std::string_view stack, DurationNs time) {
    std::size_t node = 0;
    nodes_[node].total.add(time);
    std::string_view line;
    for (const StackFrame& frame : frames_of(stack)) {
      node = child(node, frame);
      nodes_[node].total.add(time);
      nodes_[node].calls[line].add(time);
      nodes_[node].lines[frame.line].add(time);
      line = frame.line;
    }
    nodes_[node].innermost[line].add(time);
  }

  /// `least`: the time from which on a function has its own entry.
  std::vector<SampledWork> works(DurationNs least) {
    const std::size_t loop = find_loop();
    Node& node = nodes_[loop];
    Amount left = node.total;
    for (std::size_t next : node.children) {
      if (nodes_[next].total.time < least) continue;
      const std::string from = loop == 0 ? "" : node.at_line(longest(nodes_[next].calls));
      take(left, nodes_[next].total);
      collect(next, from, least);
    }
    for (const auto& [line, amount] : node.innermost) {
      if (amount.time < least || loop == 0) continue;
      take(left, amount);
      put(node, line, "", amount);
    }
    if (loop != 0) put(node, "", "", left);
    std::stable_sort(works_.begin(), works_.end(), [](const SampledWork& a, const SampledWork& b) {
      return a.per_step > b.per_step;
    });
    return std::move(works_);
  }

  std::int64_t samples() const { return nodes_[0].total.samples; }

 private:
  std::size_t child(std::size_t parent, const StackFrame& frame) {
    auto [slot, is_new] = index_.try_emplace({parent, frame.function, frame.file}, nodes_.size());
    if (is_new) {
      nodes_[parent].children.push_back(nodes_.size());
      nodes_.push_back({frame, {}, {}, {}, {}, {}});
    }
    return slot->second;
  }

  /// The innermost function that holds nearly all of the time and calls others: the program's loop.
  std::size_t find_loop() const {
    const auto most =
        static_cast<std::int64_t>(0.95 * static_cast<double>(nodes_[0].total.time.ns));
    std::size_t loop = 0;
    for (;;) {
      auto next = std::find_if(nodes_[loop].children.begin(), nodes_[loop].children.end(),
                               [&](std::size_t one) { return nodes_[one].total.time.ns >= most; });
      if (next == nodes_[loop].children.end() || (loop != 0 && nodes_[*next].children.empty()))
        return loop;
      loop = *next;
    }
  }

  void collect(std::size_t at, const std::string& from, DurationNs least) {
    const Node& node = nodes_[at];
    Amount left = node.total;
    for (std::size_t next : node.children) {
      if (nodes_[next].total.time < least) continue;
      take(left, nodes_[next].total);
      collect(next, from, least);
    }
    put(node, longest(node.innermost.empty() ? node.lines : node.innermost), from, left);
  }

  static void take(Amount& from, const Amount& amount) {
    from.time -= amount.time;
    from.samples -= amount.samples;
  }

  void put(const Node& node, std::string_view line, const std::string& from, Amount amount) {
    if (amount.samples < kLeastSamples) return;
    works_.push_back(
        {std::string(node.frame.function), node.place(line), from, amount.time, amount.samples});
  }

  std::vector<Node> nodes_ = std::vector<Node>(1);
  std::map<std::tuple<std::size_t, std::string_view, std::string_view>, std::size_t> index_;
  std::vector<SampledWork> works_;
};

bool is_unexplained(const Segment& segment) {
  if (segment.time_class == TimeClass::kBetweenSteps)
    return segment.cause.kind == EventRef::Kind::kNone;
  return segment.time_class == TimeClass::kHostOther || segment.time_class == TimeClass::kUnknown;
}

std::vector<Interval> unexplained(const Steps& steps, const DevicePartition& partition) {
  std::vector<Interval> result;
  for (const DeviceStep& step : partition.steps) {
    if (!counts(steps, step)) continue;
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = partition.segments[step.first_segment + i];
      if (is_unexplained(segment)) result.push_back(segment.interval);
    }
  }
  return result;
}

ThreadId training_thread(const Steps& steps, const DevicePartition& partition) {
  if (partition.thread.valid()) return partition.thread;
  return steps.steady.empty() ? ThreadId::none() : steps.all[steps.steady.front()].thread;
}

}  // namespace

SampledWorks sampled_works(const Trace& trace, const Steps& steps,
                           const DevicePartition& partition) {
  return sampled_works(trace, steps, partition, unexplained(steps, partition));
}

SampledWorks sampled_works(const Trace& trace, const Steps& steps, const DevicePartition& partition,
                           std::span<const Interval> intervals) {
  SampledWorks result;
  const ThreadId thread = training_thread(steps, partition);
  if (!thread.valid() || partition.steady_steps == 0) return result;
  DurationNs whole;
  for (const Interval& interval : intervals) whole += interval.length();
  auto interval = intervals.begin();
  DurationNs sampled;
  Tree tree;
  for (RangeId range : trace.ranges_of_thread[thread]) {
    if (!trace.ranges.is(range, Ranges::kMark)) continue;
    const RangeInfo* info = trace.info(range);
    if (!info || info->kind != RangeKind::kSample || info->batch <= 0) continue;
    const TimeNs at = trace.ranges.start[range.value];
    while (interval != intervals.end() && interval->end < at) ++interval;
    if (interval == intervals.end() || at < interval->begin) continue;
    const DurationNs time{info->batch * kUnitNs};
    tree.add(trace.strings[trace.ranges.name[range.value]], time);
    sampled += time;
  }
  if (tree.samples() < kLeastInAll || sampled.ns <= 0) return result;
  result.samples = tree.samples();
  const double scale = ratio(whole, sampled);
  const double least =
      kOwnPlace * static_cast<double>(partition.stretch.ns) / std::max(scale, 1e-9);
  result.works = tree.works({static_cast<std::int64_t>(least)});
  for (SampledWork& work : result.works) {
    work.per_step =
        DurationNs{static_cast<std::int64_t>(static_cast<double>(work.per_step.ns) * scale /
                                             static_cast<double>(partition.steady_steps))};
    result.per_step += work.per_step;
  }
  return result;
}

std::string function_text(const SampledWork& work) {
  return work.function + " (" + work.place + ")";
}

}  // namespace headway::analyzer
