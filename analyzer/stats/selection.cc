// SPDX-License-Identifier: MIT
#include "analyzer/stats/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "common/error.h"
#include "common/text.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Which texts of the pool a glob fits, by StringId; each text is looked at once.
std::vector<std::uint8_t> fitting_names(const Strings& strings, std::string_view glob) {
  std::vector<std::uint8_t> fits(strings.size());
  for (std::uint32_t i = 0; i < fits.size(); ++i) fits[i] = glob_match(glob, strings[{i}]);
  return fits;
}

/// True per range that fits or lies inside one that does. A parent stands before its children.
std::vector<std::uint8_t> inside_ranges(const Trace& trace, const std::string& glob) {
  std::vector<std::uint8_t> fits = fitting_names(trace.strings, glob);
  std::vector<std::uint8_t> inside(trace.ranges.size());
  for (std::size_t i = 0; i < inside.size(); ++i) {
    StringId name = trace.ranges.name[i];
    RangeId parent = trace.ranges.parent[i];
    inside[i] = (name.value < fits.size() && fits[name.value]) ||
                (parent.valid() && parent.value < i && inside[parent.value]);
  }
  return inside;
}

/// Sorted, disjoint times; `has` is a binary search.
struct Times {
  std::vector<Interval> intervals;
  bool has(TimeNs t) const {
    auto after = std::upper_bound(intervals.begin(), intervals.end(), t,
                                  [](TimeNs time, const Interval& i) { return time < i.begin; });
    return after != intervals.begin() && (after - 1)->contains(t);
  }
};

/// When each process is in a selected step, on its training thread.
std::vector<Times> host_times(const Trace& trace, const Analysis& analysis,
                              const std::vector<std::uint8_t>& steps) {
  std::vector<Times> times(trace.processes.size());
  for (std::size_t i = 0; i < analysis.steps.all.size(); ++i) {
    const Step& step = analysis.steps.all[i];
    if (steps[i])
      times[trace.threads[step.thread.value].process.value].intervals.push_back(step.host);
  }
  return times;
}

/// When each device is in a selected step.
std::vector<Times> device_times(const Trace& trace, const Analysis& analysis,
                                const std::vector<std::uint8_t>& steps) {
  std::vector<Times> times(trace.devices.size());
  for (const DevicePartition& partition : analysis.partitions) {
    if (!partition.device.valid()) continue;  // of a host
    for (const DeviceStep& step : partition.steps) {
      if (step.step < steps.size() && steps[step.step])
        times[partition.device.value].intervals.push_back(step.interval);
    }
  }
  return times;
}

std::vector<std::uint8_t> processes_of_ranks(const Trace& trace,
                                             const std::vector<std::int32_t>& ranks) {
  std::vector<std::uint8_t> chosen(trace.processes.size(), ranks.empty());
  std::set<std::int32_t> known;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::int32_t rank = trace.processes[i].rank;
    known.insert(rank);
    if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) chosen[i] = 1;
  }
  for (std::int32_t rank : ranks) {
    if (!known.contains(rank))
      fail_usage("--rank {}: the trace has no such rank; it has {}.", rank, fmt::join(known, ", "));
  }
  return chosen;
}

std::vector<std::uint8_t> chosen_steps(const Trace& trace, const Analysis& analysis,
                                       const Filter& filter,
                                       const std::vector<std::uint8_t>& processes) {
  const std::vector<Step>& all = analysis.steps.all;
  std::vector<std::uint8_t> chosen(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool in_range = !filter.steps ||
                    (all[i].number >= filter.steps->first && all[i].number <= filter.steps->second);
    chosen[i] = in_range && processes[trace.threads[all[i].thread.value].process.value];
  }
  if (filter.steps && std::find(chosen.begin(), chosen.end(), 1) == chosen.end()) {
    if (all.empty()) fail_usage("--steps: the trace has no steps: {}.", analysis.steps.how);
    auto [least, largest] = std::minmax_element(
        all.begin(), all.end(), [](const Step& a, const Step& b) { return a.number < b.number; });
    fail_usage("--steps {}:{}: no such step; the trace has steps {} to {}.", filter.steps->first,
               filter.steps->second, least->number, largest->number);
  }
  return chosen;
}

[[noreturn]] void nothing_fits(std::string_view option, const std::string& glob,
                               const std::vector<std::string>& names, std::string_view table) {
  std::vector<std::string> near = closest(glob, names);
  fail_usage("{} '{}' matches nothing in the trace.{} `headway stats TRACE {}` lists the names.",
             option, glob,
             near.empty() ? "" : fmt::format(" Did you mean {}?", fmt::join(near, ", ")), table);
}

std::string describe(const Filter& filter) {
  std::vector<std::string> parts;
  if (filter.steps) {
    auto [first, last] = *filter.steps;
    bool open = last == INT64_MAX;
    parts.push_back(open ? fmt::format("steps from {}", first)
                         : fmt::format("steps {} to {}", first, last));
  }
  if (!filter.ranks.empty())
    parts.push_back(fmt::format("ranks {}", fmt::join(filter.ranks, ", ")));
  if (!filter.range.empty()) parts.push_back(fmt::format("inside ranges '{}'", filter.range));
  if (!filter.op.empty()) parts.push_back(fmt::format("ops '{}'", filter.op));
  return fmt::format("Only {}.", fmt::join(parts, ", "));
}

}  // namespace

std::pair<std::int64_t, std::int64_t> parse_steps(const std::string& text) {
  auto number = [&](std::string_view part, std::int64_t missing) {
    if (part.empty()) return missing;
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || end != part.data() + part.size() || value < 0)
      fail_usage("--steps '{}': expected step numbers such as 10:20, 10:, :20 or 10.", text);
    return value;
  };
  std::string_view view = text;
  std::size_t colon = view.find(':');
  if (colon == std::string_view::npos) {
    std::int64_t one = number(view, -1);
    if (one < 0) fail_usage("--steps: expected step numbers such as 10:20, 10:, :20 or 10.");
    return {one, one};
  }
  std::pair<std::int64_t, std::int64_t> result{number(view.substr(0, colon), 0),
                                               number(view.substr(colon + 1), INT64_MAX)};
  if (result.first > result.second)
    fail_usage("--steps '{}': the first step is after the last one.", text);
  return result;
}

std::int32_t rank_of(const Trace& trace, DeviceId device) {
  ProcessId process = device.valid() ? trace.devices[device.value].process : ProcessId::none();
  return process.valid() ? trace.processes[process.value].rank : 0;
}

Selection::Selection(const Trace& trace, const Analysis& analysis, const Filter& filter) {
  if (!filter.any()) return;
  text_ = describe(filter);
  std::vector<std::uint8_t> processes = processes_of_ranks(trace, filter.ranks);
  steps_ = chosen_steps(trace, analysis, filter, processes);
  for (std::uint32_t d = 0; d < trace.devices.size(); ++d) {
    std::int32_t rank = rank_of(trace, {d});
    devices_.push_back(filter.ranks.empty() || std::find(filter.ranks.begin(), filter.ranks.end(),
                                                         rank) != filter.ranks.end());
  }
  std::vector<std::uint8_t> inside;
  if (!filter.range.empty()) {
    inside = inside_ranges(trace, filter.range);
    if (std::find(inside.begin(), inside.end(), 1) == inside.end()) {
      std::set<StringId> ids(trace.ranges.name.begin(), trace.ranges.name.end());
      std::vector<std::string> names;
      for (StringId id : ids) names.emplace_back(trace.strings[id]);
      nothing_fits("--range", filter.range, names, "ranges --keep-numbers");
    }
  }
  select_ops(trace, analysis, filter, inside);
  select_calls(trace, analysis, filter, inside);
  select_ranges(trace, analysis, filter, inside);
}

void Selection::select_ops(const Trace& trace, const Analysis& analysis, const Filter& filter,
                           const std::vector<std::uint8_t>& inside) {
  const DeviceOps& ops = trace.device_ops;
  std::vector<std::uint8_t> fits(analysis.attribution.ops.size(), 1);
  if (!filter.op.empty()) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < fits.size(); ++i) {
      fits[i] = glob_match(filter.op, analysis.attribution.ops[i].name);
      names.push_back(analysis.attribution.ops[i].name);
    }
    if (std::find(fits.begin(), fits.end(), 1) == fits.end())
      nothing_fits("--op", filter.op, names, "ops");
  }
  std::vector<std::uint8_t> processes = processes_of_ranks(trace, filter.ranks);
  std::vector<Times> times = device_times(trace, analysis, steps_);
  ops_.assign(ops.size(), 0);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Stream& stream = trace.streams[ops.stream[i].value];
    RangeId range = analysis.attribution.range_of[i];
    bool of_rank =
        filter.ranks.empty() || (stream.process.valid() && processes[stream.process.value] != 0);
    ops_[i] = of_rank && fits[analysis.attribution.op_of[i].value] &&
              (!filter.steps || times[stream.device.value].has(ops.start[i])) &&
              (inside.empty() || (range.valid() && inside[range.value]));
  }
}

void Selection::select_calls(const Trace& trace, const Analysis& analysis, const Filter& filter,
                             const std::vector<std::uint8_t>& inside) {
  const Calls& calls = trace.calls;
  std::vector<std::uint8_t> processes = processes_of_ranks(trace, filter.ranks);
  std::vector<Times> times = host_times(trace, analysis, steps_);
  calls_.assign(calls.size(), 0);
  for (std::uint32_t i = 0; i < calls.size(); ++i) {
    ProcessId process = trace.threads[calls.thread[i].value].process;
    if (!processes[process.value]) continue;
    if (filter.steps && !times[process.value].has(calls.start[i])) continue;
    if (!inside.empty()) {
      RangeId range = innermost_range(trace, calls.thread[i], calls.start[i]);
      if (!range.valid() || !inside[range.value]) continue;
    }
    DeviceOpId op = calls.op[i];
    calls_[i] = filter.op.empty() || (op.valid() && ops_[op.value]);
  }
}

void Selection::select_ranges(const Trace& trace, const Analysis& analysis, const Filter& filter,
                              const std::vector<std::uint8_t>& inside) {
  const Ranges& ranges = trace.ranges;
  std::vector<std::uint8_t> processes = processes_of_ranks(trace, filter.ranks);
  std::vector<Times> times = host_times(trace, analysis, steps_);
  // With an op, the ranges that launched its work.
  std::vector<std::uint8_t> launched(filter.op.empty() ? 0 : ranges.size());
  for (std::size_t i = 0; !launched.empty() && i < ops_.size(); ++i) {
    RangeId range = analysis.attribution.range_of[i];
    if (ops_[i] && range.valid()) launched[range.value] = 1;
  }
  ranges_.assign(ranges.size(), 0);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    ProcessId process = trace.threads[ranges.thread[i].value].process;
    ranges_[i] = processes[process.value] &&
                 (!filter.steps || times[process.value].has(ranges.start[i])) &&
                 (inside.empty() || inside[i]) && (launched.empty() || launched[i]);
  }
}

SelectedSteps selected_steps(const Analysis& analysis, const DevicePartition& partition,
                             const Selection& selection) {
  if (selection.text().empty()) return {partition.per_steady_step, partition.steady_steps};
  SelectedSteps result;
  if (!selection.has(partition.device)) return result;
  for (const DeviceStep& step : partition.steps) {
    if (!counts(analysis.steps, step) || !selection.has_step(step.step)) continue;
    result.mean += step.times;
    ++result.count;
  }
  result.mean = mean_of(result.mean, result.count);
  return result;
}

}  // namespace headway::analyzer
