// SPDX-License-Identifier: MIT
#include "analyzer/steps/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/kernels/families.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr std::uint32_t kMinRepetitions = 3;
constexpr std::size_t kCandidates = 32;
/// Share of the repetitions that must hold a token for it to count as "in each".
constexpr double kInEach = 0.9;
/// Below this share of tokens that come back in each repetition there is no pattern.
constexpr double kMinScore = 0.6;
/// Repetitions may differ in length by this much, relative to their mean.
constexpr double kMaxSpread = 0.35;

/// Where a token occurs, gathered in one pass over all of them.
struct Occurrence {
  std::uint32_t count = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  double squares = 0;  ///< sum of squared distances between neighbours

  double spread() const {
    if (count < 2) return 1e9;
    double mean = static_cast<double>(last - first) / (count - 1);
    return std::sqrt(std::max(0.0, squares / (count - 1) - mean * mean)) / std::max(mean, 1.0);
  }
};

std::vector<Occurrence> occurrences(std::span<const std::uint32_t> tokens, std::uint32_t distinct) {
  std::vector<Occurrence> of(distinct);
  for (std::uint32_t i = 0; i < tokens.size(); ++i) {
    Occurrence& o = of[tokens[i]];
    if (o.count++ == 0) {
      o.first = i;
    } else {
      double distance = i - o.last;
      o.squares += distance * distance;
    }
    o.last = i;
  }
  return of;
}

/// One anchor per number of occurrences, the most regular; the numbers that most tokens share first.
std::vector<std::uint32_t> candidates(const std::vector<Occurrence>& of) {
  struct Group {
    std::uint32_t tokens = 0;
    std::uint32_t anchor = 0;
  };
  std::map<std::uint32_t, Group> by_count;
  for (std::uint32_t t = 0; t < of.size(); ++t) {
    if (of[t].count < kMinRepetitions || of[t].spread() > kMaxSpread) continue;
    Group& group = by_count[of[t].count];
    if (group.tokens++ == 0 || of[t].spread() < of[group.anchor].spread()) group.anchor = t;
  }
  std::vector<Group> groups;
  for (const auto& [count, group] : by_count) groups.push_back(group);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.tokens > b.tokens; });
  if (groups.size() > kCandidates) groups.resize(kCandidates);
  std::vector<std::uint32_t> anchors;
  for (const Group& group : groups) anchors.push_back(group.anchor);
  return anchors;
}

/// The share of the repeated tokens that (nearly) every repetition from one anchor to the next holds.
double score(std::span<const std::uint32_t> tokens, const std::vector<Occurrence>& of,
             std::uint32_t anchor) {
  std::vector<std::uint32_t> last_seen(of.size(), 0);
  std::vector<std::uint32_t> seen_in(of.size(), 0);
  std::uint32_t repetition = 0;
  std::uint32_t repetitions = of[anchor].count - 1;
  for (std::uint32_t token : tokens) {
    repetition += token == anchor;
    if (repetition == 0) continue;
    if (repetition > repetitions) break;
    if (last_seen[token] == repetition) continue;
    last_seen[token] = repetition;
    ++seen_in[token];
  }
  std::size_t repeated = 0;
  std::size_t in_each = 0;
  for (std::size_t t = 0; t < of.size(); ++t) {
    if (of[t].count < kMinRepetitions) continue;
    ++repeated;
    in_each += seen_in[t] >= kInEach * repetitions;
  }
  return repeated ? static_cast<double>(in_each) / static_cast<double>(repeated) : 0;
}

/// A sequence to look for steps in: what happened on one thread, in order.
struct Stream {
  ThreadId thread;
  std::string_view what;  ///< "ops", "kernel launches"
  std::vector<std::uint32_t> tokens;
  std::vector<TimeNs> start;
  std::vector<TimeNs> end;
  std::vector<bool> update_token;  ///< by token: it updates weights
  std::vector<bool> input_token;   ///< by token: it waits for input
  std::vector<std::string_view> text;
};

/// The outermost ops and annotations of a thread: ranges with nothing but Python around them.
std::vector<RangeId> outermost(const Trace& trace, const RangeNames& names, ThreadId thread) {
  std::vector<RangeId> result;
  const Ranges& ranges = trace.ranges;
  TimeNs covered = TimeNs::min();
  for (RangeId id : trace.ranges_of_thread[thread]) {
    RangeSource source = names.source(id);
    if (source == RangeSource::kPython || source == RangeSource::kDevice) continue;
    if (ranges.is(id, Ranges::kMark) || ranges.is(id, Ranges::kStartEnd) || names[id].step)
      continue;
    if (ranges.start[id.value] < covered) continue;
    covered = ranges.end[id.value];
    result.push_back(id);
  }
  return result;
}

/// The outermost ranges of the thread of `process` that has most of them, of threads that do not mostly run the
/// backward pass.
Stream range_stream(const Trace& trace, const RangeNames& names, ProcessId process) {
  Stream stream;
  stream.what = "ops";
  std::vector<RangeId> best;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    if (trace.threads[t].process != process) continue;
    std::vector<RangeId> roots = outermost(trace, names, ThreadId{t});
    if (roots.size() <= best.size()) continue;
    auto backward = std::count_if(roots.begin(), roots.end(),
                                  [&](RangeId id) { return names[id].phase == Phase::kBackward; });
    if (static_cast<std::size_t>(backward) * 2 > roots.size()) continue;
    best = std::move(roots);
    stream.thread = ThreadId{t};
  }
  std::vector<std::uint32_t> token_of(names.base_count(), UINT32_MAX);
  for (RangeId id : best) {
    std::uint32_t& token = token_of[names[id].base];
    if (token == UINT32_MAX) {
      token = static_cast<std::uint32_t>(stream.text.size());
      stream.text.push_back(names.base(names[id].base));
      stream.update_token.push_back(names[id].phase == Phase::kUpdate &&
                                    stream.text.back().find("zero_grad") == std::string_view::npos);
      stream.input_token.push_back(names[id].input_wait);
    }
    stream.tokens.push_back(token);
    stream.start.push_back(trace.ranges.start[id.value]);
    stream.end.push_back(trace.ranges.end[id.value]);
  }
  return stream;
}

/// The kernels that the threads of `process` launched, in order of the launches.
Stream kernel_stream(const Trace& trace, ProcessId process) {
  Stream stream;
  stream.what = "kernel launches";
  const Calls& calls = trace.calls;
  std::vector<std::uint32_t> token_of(trace.strings.size(), UINT32_MAX);
  std::vector<std::uint32_t> launches(trace.threads.size(), 0);
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    if (!calls.op[i].valid() || trace.threads[calls.thread[i].value].process != process) continue;
    DeviceOpId op = calls.op[i];
    if (trace.device_ops.kind[op.value] != DeviceOpKind::kKernel) continue;
    StringId name = trace.device_ops.name[op.value];
    if (name.value >= token_of.size()) continue;
    std::uint32_t& token = token_of[name.value];
    if (token == UINT32_MAX) {
      token = static_cast<std::uint32_t>(stream.text.size());
      stream.text.push_back(trace.strings[name]);
      stream.update_token.push_back(classify_kernel(stream.text.back()).family ==
                                    KernelFamily::kOptimizer);
      stream.input_token.push_back(false);
    }
    stream.tokens.push_back(token);
    stream.start.push_back(calls.start[i]);
    stream.end.push_back(calls.end[i]);
    ++launches[calls.thread[i].value];
  }
  auto most = std::max_element(launches.begin(), launches.end());
  if (most != launches.end() && *most > 0)
    stream.thread = ThreadId::from(static_cast<std::size_t>(most - launches.begin()));
  return stream;
}

/// Where steps end: after the last update of each repetition, else where the wait for input begins.
std::vector<TimeNs> boundaries(const Stream& stream, const Period& period, std::string_view& by) {
  for (bool update : {true, false}) {
    const std::vector<bool>& wanted = update ? stream.update_token : stream.input_token;
    std::vector<TimeNs> times;
    for (std::size_t r = 0; r + 1 < period.anchors.size(); ++r) {
      for (std::uint32_t i = period.anchors[r + 1]; i-- > period.anchors[r];) {
        if (!wanted[stream.tokens[i]]) continue;
        times.push_back(update ? stream.end[i] : stream.start[i]);
        by = stream.text[stream.tokens[i]];
        break;
      }
    }
    if (times.size() + 1 >= kMinRepetitions &&
        static_cast<double>(times.size()) >=
            kInEach * static_cast<double>(period.anchors.size() - 1))
      return times;
  }
  return {};
}

PatternSteps steps_of_stream(const Stream& stream) {
  PatternSteps result;
  Period period = find_period(stream.tokens, static_cast<std::uint32_t>(stream.text.size()));
  if (period.anchors.empty()) {
    result.how = fmt::format("no pattern of {} repeats", stream.what);
    return result;
  }
  std::size_t repetitions = period.anchors.size() - 1;
  std::size_t length = (period.anchors.back() - period.anchors.front()) / repetitions;
  std::string pattern =
      fmt::format("a pattern of about {} {} repeats {} times",
                  format_count(static_cast<std::int64_t>(length)), stream.what, repetitions);
  std::string_view by;
  std::vector<TimeNs> times = boundaries(stream, period, by);
  if (times.empty()) {
    result.how = pattern +
                 ", but it contains no weight update and no input wait, so it may be a layer "
                 "rather than a training step";
    return result;
  }
  result.thread = stream.thread;
  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    if (times[i] < times[i + 1]) result.steps.push_back({times[i], times[i + 1]});
  }
  result.how = fmt::format("{}; starts at '{}'; {} of the names repeat each time", pattern, by,
                           format_percent(period.score));
  return result;
}

/// True when most of the process's launches happen inside ranges: then those tell more than names of
/// kernels, and a pattern of kernels inside would be a layer.
bool launches_inside_ranges(const Trace& trace, const RangeNames& names, ProcessId process) {
  std::size_t launches = 0;
  std::size_t inside = 0;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    if (trace.threads[t].process != process) continue;
    std::vector<RangeId> roots = outermost(trace, names, ThreadId{t});
    std::size_t next = 0;
    for (CallId call : trace.calls_of_thread[ThreadId{t}]) {
      if (!trace.calls.op[call.value].valid()) continue;
      TimeNs at = trace.calls.start[call.value];
      while (next < roots.size() && trace.ranges.end[roots[next].value] <= at) ++next;
      ++launches;
      inside += next < roots.size() && trace.ranges.start[roots[next].value] <= at;
    }
  }
  return launches > 0 && inside * 2 > launches;
}

}  // namespace

Period find_period(std::span<const std::uint32_t> tokens, std::uint32_t distinct) {
  Period period;
  std::vector<Occurrence> of = occurrences(tokens, distinct);
  struct Scored {
    std::uint32_t anchor;
    double score;
  };
  std::vector<Scored> scored;
  double best = 0;
  for (std::uint32_t anchor : candidates(of)) {
    scored.push_back({anchor, score(tokens, of, anchor)});
    best = std::max(best, scored.back().score);
  }
  if (best < kMinScore) return period;
  // Of anchors that explain the sequence about equally well, the one with most repetitions: two
  // steps together are not a step.
  const Scored* chosen = nullptr;
  for (const Scored& s : scored) {
    if (s.score < 0.9 * best) continue;
    if (!chosen || of[s.anchor].count > of[chosen->anchor].count) chosen = &s;
  }
  period.score = chosen->score;
  for (std::uint32_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == chosen->anchor) period.anchors.push_back(i);
  }
  return period;
}

std::vector<PatternSteps> find_pattern_steps(const Trace& trace, const RangeNames& names) {
  std::vector<PatternSteps> all;
  for (std::uint32_t p = 0; p < trace.processes.size(); ++p) {
    ProcessId process{p};
    Stream ranges = range_stream(trace, names, process);
    PatternSteps steps;
    if (!ranges.tokens.empty()) steps = steps_of_stream(ranges);
    if (!steps.thread.valid() && !launches_inside_ranges(trace, names, process)) {
      Stream kernels = kernel_stream(trace, process);
      if (!kernels.tokens.empty()) steps = steps_of_stream(kernels);
    }
    if (!steps.how.empty()) all.push_back(std::move(steps));
  }
  return all;
}

}  // namespace headway::analyzer
