// SPDX-License-Identifier: MIT
// The work of a step is launched at once: by a CUDA graph, or by fewer and larger launches.
#include <fmt/format.h>

#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"

namespace headway::analyzer {
namespace {

using namespace trace;

// Launching a graph: 2.5 µs and 1 ns a node (CUDA 12, H100).
constexpr DurationNs kGraphLaunch{2'500};
constexpr DurationNs kGraphNode{1};

/// What becomes a node of the graph. Copies from and to the host stay outside: their memory changes.
bool is_node(const Trace& trace, CallId call) {
  switch (trace.calls.kind[call.value]) {
    case DeviceCallKind::kLaunch:
    case DeviceCallKind::kMemset:
    case DeviceCallKind::kEventRecord:
    case DeviceCallKind::kStreamWaitEvent:
      return true;
    case DeviceCallKind::kCopy: {
      const DeviceOpId op = trace.calls.op[call.value];
      return op.valid() && trace.device_ops.kind[op.value] == DeviceOpKind::kCopyDeviceToDevice;
    }
    default:
      return false;
  }
}

/// Calls that only prepare a launch: queries of a stream, of a device, of a kernel's occupancy.
bool prepares(const Trace& trace, CallId call) {
  return trace.calls.kind[call.value] == DeviceCallKind::kOther;
}

/// What one graph would hold: a step, or of a recording without steps all that a thread launches.
struct Stretch {
  ThreadId thread;
  Interval host;
};

std::vector<Stretch> stretches(const Trace& trace, const Steps& steps) {
  std::vector<Stretch> all;
  for (const Step& step : steps.all) all.push_back({step.thread, step.host});
  if (!all.empty()) return all;
  ThreadId most;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    const auto calls = trace.calls_of_thread[ThreadId{t}];
    if (!calls.empty() && (!most.valid() || calls.size() > trace.calls_of_thread[most].size()))
      most = ThreadId{t};
  }
  if (most.valid()) all.push_back({most, {TimeNs::min(), TimeNs::max()}});
  return all;
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const Points& points = predictor.program().graph().points();
  Editor editor(predictor);
  std::int64_t dropped = 0;
  std::int64_t graphs = 0;
  for (const Stretch& step : stretches(trace, predictor.analysis().steps)) {
    CallId first;
    std::int64_t nodes = 0;
    const ProcessId process = trace.threads[step.thread.value].process;
    for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
      if (trace.threads[t].process != process) continue;
      auto calls = trace.calls_of_thread[ThreadId{t}];
      auto call = std::partition_point(calls.begin(), calls.end(), [&](CallId c) {
        return trace.calls.start[c.value] < step.host.begin;
      });
      for (; call != calls.end() && trace.calls.start[call->value] < step.host.end; ++call) {
        if (prepares(trace, *call) && first.valid()) editor.drop_call(*call);
        if (!is_node(trace, *call)) continue;
        ++nodes;
        bool on_training_thread = ThreadId{t} == step.thread;
        if (!first.valid() && on_training_thread) {
          first = *call;
          continue;
        }
        editor.drop_call(*call);
        ++dropped;
      }
    }
    if (!first.valid()) continue;
    editor.set_duration(points.task(first), kGraphLaunch + kGraphNode * nodes, true);
    ++graphs;
  }
  if (graphs == 0 || dropped < graphs) return not_here("a step has one launch at most");
  return {true, fmt::format("{} launches per step become one", (dropped + graphs) / graphs),
          editor.take()};
}

}  // namespace

const Fix kCudaGraph{"cuda-graph",
                     "Launch the step as one CUDA graph",
                     "launch-bound",
                     FixKind::kModelled,
                     0.1,
                     "--cuda-graph on",
                     "All launches of a step but the first are not made, nor the pauses between "
                     "them as far as they issue work; the first costs 2.5 µs and 1 ns a launch.",
                     "whether shapes and control flow allow a capture",
                     propose};

}  // namespace headway::analyzer
