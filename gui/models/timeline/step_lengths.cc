// SPDX-License-Identifier: MIT
#include "gui/models/timeline/step_lengths.h"

#include <algorithm>

namespace headway::gui {

StepLengths step_lengths(const analyzer::Analysis& analysis) {
  const std::vector<analyzer::Step>& steps = analysis.steps.all;
  StepLengths result;
  result.on_device.resize(steps.size());
  for (const analyzer::Step& step : steps)
    result.length.push_back(std::max(step.cycle().length(), step.host.length()));
  std::vector<DurationNs> cost(steps.size(), DurationNs{-1});
  for (const analyzer::DevicePartition& partition : analysis.partitions) {
    for (const analyzer::DeviceStep& step : partition.steps) {
      if (step.step >= steps.size() || partition.step_cost() <= cost[step.step]) continue;
      cost[step.step] = partition.step_cost();
      result.length[step.step] = step.interval.length();
      result.on_device[step.step] = partition.device.valid();
    }
  }
  return result;
}

std::optional<std::uint32_t> step_at(const analyzer::DevicePartition& partition, TimeNs time) {
  for (const analyzer::DeviceStep& step : partition.steps)
    if (step.interval.contains(time)) return step.step;
  return std::nullopt;
}

namespace {

std::optional<std::uint32_t> step_on_host(const trace::Trace& trace,
                                          const analyzer::Analysis& analysis,
                                          trace::ThreadId thread, TimeNs time) {
  const std::vector<analyzer::Step>& steps = analysis.steps.all;
  const trace::ProcessId process = trace.threads[thread.value].process;
  auto find = [&](auto belongs) -> std::optional<std::uint32_t> {
    for (std::uint32_t i = 0; i < steps.size(); ++i)
      if (steps[i].cycle().contains(time) && belongs(steps[i].thread)) return i;
    return std::nullopt;
  };
  const auto rank = [&](trace::ProcessId id) { return trace.processes[id.value].rank; };
  auto own = find([&](trace::ThreadId one) { return trace.threads[one.value].process == process; });
  if (own) return own;
  // A loader process has no steps of its own: uses those of its rank.
  return find(
      [&](trace::ThreadId one) { return rank(trace.threads[one.value].process) == rank(process); });
}

}  // namespace

std::optional<std::uint32_t> step_of(const trace::Trace& trace, const analyzer::Analysis& analysis,
                                     analyzer::EventRef event) {
  using Kind = analyzer::EventRef::Kind;
  if (analysis.steps.all.empty()) return std::nullopt;
  const TimeNs begin = analyzer::interval_of(trace, event).begin;
  switch (event.kind) {
    case Kind::kDeviceOp: {
      const trace::StreamId stream = trace.device_ops.stream[event.index];
      for (const analyzer::DevicePartition& partition : analysis.partitions) {
        if (partition.device != trace.streams[stream.value].device) continue;
        if (auto step = step_at(partition, begin)) return step;
      }
      return std::nullopt;
    }
    case Kind::kRange:
      return step_on_host(trace, analysis, trace.ranges.thread[event.index], begin);
    case Kind::kCall:
      return step_on_host(trace, analysis, trace.calls.thread[event.index], begin);
    case Kind::kNone:
      break;
  }
  return std::nullopt;
}

}  // namespace headway::gui
