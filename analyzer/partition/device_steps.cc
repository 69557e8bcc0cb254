// SPDX-License-Identifier: MIT
#include "analyzer/partition/device_steps.h"

#include <algorithm>

namespace headway::analyzer {
namespace {

using namespace trace;

struct Boundary {
  TimeNs first_start = TimeNs::max();
  TimeNs last_update = TimeNs::min();
  TimeNs last_kernel = TimeNs::min();
  TimeNs last_op = TimeNs::min();
  std::int64_t kernels = 0;
  std::int64_t kernels_after_update = 0;

  TimeNs end() const {
    // Clearing the gradients at the start of a step is the optimizer's, but does not end the step.
    bool update_ends_step = kernels_after_update * 2 <= kernels;
    if (last_update != TimeNs::min() && update_ends_step) return last_update;
    return last_kernel != TimeNs::min() ? last_kernel : last_op;
  }
};

/// The process whose steps cut this device's time: the one with most work on it.
ProcessId main_process(const Trace& trace, const DeviceWork& work) {
  std::vector<std::size_t> counts(trace.processes.size(), 0);
  for (DeviceOpId op : work.ops)
    ++counts[trace.streams[trace.device_ops.stream[op.value].value].process.value];
  return ProcessId::from(
      static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin()));
}

}  // namespace

std::vector<StepWindow> step_windows(const Trace& trace, const Steps& steps,
                                     const Attribution& attribution, const DeviceWork& work) {
  ProcessId process = main_process(trace, work);
  std::vector<std::uint32_t> mine;
  for (std::uint32_t i = 0; i < steps.all.size(); ++i) {
    if (trace.threads[steps.all[i].thread.value].process == process) mine.push_back(i);
  }
  std::vector<Boundary> boundaries(mine.size());
  const DeviceOps& ops = trace.device_ops;
  for (DeviceOpId op : work.ops) {
    CallId call = ops.call[op.value];
    if (!call.valid()) continue;
    TimeNs launched = trace.calls.start[call.value];
    auto after =
        std::upper_bound(mine.begin(), mine.end(), launched,
                         [&](TimeNs t, std::uint32_t i) { return t < steps.all[i].host.begin; });
    if (after == mine.begin() || launched >= steps.all[*(after - 1)].host.end) continue;
    Boundary& boundary = boundaries[static_cast<std::size_t>(after - mine.begin() - 1)];
    boundary.first_start = std::min(boundary.first_start, ops.start[op.value]);
    boundary.last_op = std::max(boundary.last_op, ops.end[op.value]);
    if (ops.kind[op.value] != DeviceOpKind::kKernel) continue;
    boundary.last_kernel = std::max(boundary.last_kernel, ops.end[op.value]);
    ++boundary.kernels;
    ++boundary.kernels_after_update;
    if (attribution.phase_of[op.value] != Phase::kUpdate) continue;
    boundary.last_update = std::max(boundary.last_update, ops.end[op.value]);
    boundary.kernels_after_update = 0;
  }
  std::vector<StepWindow> windows;
  bool unrecorded = false;  // steps since the last window
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const Boundary& boundary = boundaries[i];
    unrecorded |= i > 0 && unrecorded_between(steps.all[mine[i - 1]], steps.all[mine[i]]);
    if (boundary.last_op == TimeNs::min()) continue;
    // Unrecorded time before this step is not part of it.
    const bool cut_off = windows.empty() || unrecorded;
    const TimeNs before = windows.empty() ? TimeNs::min() : windows.back().interval.end;
    TimeNs begin =
        cut_off ? std::max(before, std::min(boundary.first_start, steps.all[mine[i]].host.begin))
                : before;
    Interval interval{begin, boundary.end()};
    if (interval.empty()) continue;
    windows.push_back({mine[i], interval});
    unrecorded = false;
  }
  return windows;
}

}  // namespace headway::analyzer
