// SPDX-License-Identifier: MIT
// The work of a step is launched by one call (a CUDA graph), or by fewer and larger launches.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/gpu_models.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// The cost of a graph, which recordings without graphs do not show.
struct GraphCosts {
  DurationNs launch;
  DurationNs node;  ///< additional cost of each node
  /// Gap between two nodes, as a share of the gap between two launches on a stream: before Hopper,
  /// and since.
  double gap_share = 1;
  double gap_share_of_hopper = 1;
  /// The gap between two launches if the recording does not show it.
  DurationNs unseen_gap;
  /// True if collectives are nodes, too. torch.compile under DistributedDataParallel ends a graph
  /// when the gradients of a bucket are ready, and so does headway-train.
  bool collectives = false;
};
// Launch: 2.5 µs plus 1 ns per node since CUDA 12.6 (straight lines of nodes), up to 0.3 µs per
// node before; 50 ns lies between on a logarithmic scale. Gaps between nodes: 0.5 instead of 0.9 µs
// (V100, CUDA 10, NVIDIA), 0.9 instead of 1.3 to 1.4 (V100, profiles of PyTorch), 0.3 µs less than
// about 0.9 (GV100), 0.1 instead of 1.25 (H100, CUDA 13, tests/data/h100).
constexpr GraphCosts kLikelyCosts{{2'500}, {50}, 0.62, 0.2, {}};
constexpr GraphCosts kLeastCosts{{2'500}, {1}, 0.4, 0.05, {}, true};
/// With launches as slow as before CUDA 12.
constexpr GraphCosts kMostCosts{{8'000}, {300}, 0.9, 0.6, {2'500}};
/// Only launches get shorter; gaps stay.
constexpr GraphCosts kGapsStay{{2'500}, {50}, 1, 1, {}};
constexpr int kHopper = 9;
/// Factor on the part of the gain that requires shorter gaps between nodes.
constexpr double kUnseenCounts = 0.5;

bool is_collective(const Predictor& predictor, DeviceOpId op) {
  return predictor.analysis().attribution.class_of[op.value] == TimeClass::kCommTransfer;
}

/// Streams of collectives and of the kernels that pack messages. A device's stream with most
/// kernels is not among them, even if collectives run there.
std::set<StreamId> streams_of_collectives(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  std::map<StreamId, std::size_t> kernels;
  std::set<StreamId> streams;
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    const StreamId stream = trace.device_ops.stream[i];
    if (is_collective(predictor, DeviceOpId{i}))
      streams.insert(stream);
    else
      ++kernels[stream];
  }
  std::map<DeviceId, StreamId> busiest;
  for (const auto& [stream, count] : kernels) {
    StreamId& most = busiest.emplace(trace.streams[stream.value].device, stream).first->second;
    if (count > kernels[most]) most = stream;
  }
  for (const auto& [device, stream] : busiest) streams.erase(stream);
  return streams;
}

/// True if the call becomes a node of the graph. Copies from and to the host stay outside, because
/// their memory changes.
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

/// The part of the run that one graph would hold: a step; without steps, everything that a thread
/// launches.
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

/// True if the host waits for the device in this call. Later launches then belong to another graph.
bool waits(const Trace& trace, CallId call) {
  switch (trace.calls.kind[call.value]) {
    case DeviceCallKind::kCopyBlocking:
    case DeviceCallKind::kEventSynchronize:
    case DeviceCallKind::kStreamSynchronize:
    case DeviceCallKind::kDeviceSynchronize:
    case DeviceCallKind::kFree:
      return true;
    default:
      return false;
  }
}

/// The calls of all launching threads of a step's process, by time: a framework's backward pass has
/// its own thread.
std::vector<CallId> calls_within(const Trace& trace, const Stretch& step) {
  const ProcessId process = trace.threads[step.thread.value].process;
  std::vector<CallId> all;
  for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
    if (trace.threads[t].process != process) continue;
    const auto calls = trace.calls_of_thread[ThreadId{t}];
    auto call = std::partition_point(calls.begin(), calls.end(), [&](CallId c) {
      return trace.calls.start[c.value] < step.host.begin;
    });
    const auto first = all.size();
    bool launches = ThreadId{t} == step.thread;
    for (; call != calls.end() && trace.calls.start[call->value] < step.host.end; ++call) {
      all.push_back(*call);
      launches |= is_node(trace, *call);
    }
    if (!launches) all.resize(first);
  }
  std::ranges::sort(all, {}, [&](CallId c) { return std::pair(trace.calls.start[c.value], c); });
  return all;
}

class Graphs {
 public:
  Graphs(const Predictor& predictor, const GraphCosts& costs)
      : predictor_(predictor), trace_(predictor.trace()), costs_(costs), editor_(predictor) {
    if (!costs.collectives) outside_ = streams_of_collectives(predictor);
  }

  void add(const Stretch& step) {
    std::vector<CallId> calls = calls_within(trace_, step);
    // A graph takes one place in a stream's queue, so the queue no longer fills up.
    const Points& points = predictor_.program().graph().points();
    for (CallId call : calls) editor_.remove_edges(end_of(points.task(call)), EdgeKind::kQueueFull);
    auto rest = calls.begin();
    while (rest != calls.end()) {
      const auto end = std::find_if(rest, calls.end(), [&](CallId c) { return ends(c); });
      add({rest, end}, step.thread);
      rest = end == calls.end() ? end : end + 1;
    }
  }
  std::int64_t graphs() const { return graphs_; }
  std::int64_t dropped() const { return dropped_; }
  Scenario take() { return editor_.take(); }

 private:
  /// True if the call ends a graph: later launches belong to another one.
  bool ends(CallId call) const {
    const DeviceOpId op = trace_.calls.op[call.value];
    if (waits(trace_, call)) return true;
    return !costs_.collectives && op.valid() &&
           (is_collective(predictor_, op) || outside_.contains(trace_.device_ops.stream[op.value]));
  }

  /// Replaces the calls by one graph, if there is more than one launch.
  void add(std::span<const CallId> calls, ThreadId thread) {
    CallId first;
    std::int64_t nodes = 0;
    for (CallId call : calls) {
      if (!is_node(trace_, call)) continue;
      ++nodes;
      const bool better = trace_.calls.thread[call.value] == thread &&
                          (!first.valid() || trace_.calls.thread[first.value] != thread);
      if (!first.valid() || better) first = call;
    }
    if (nodes < 2) return;
    for (CallId call : calls) {
      const bool after = trace_.calls.start[call.value] > trace_.calls.start[first.value];
      if (prepares(trace_, call) && after) editor_.drop_call(call);
      if (!is_node(trace_, call) || call == first) continue;
      editor_.drop_call(call);
      ++dropped_;
      follow_closely(call);
    }
    const TaskId launch = predictor_.program().graph().points().task(first);
    editor_.set_duration(launch, costs_.launch + costs_.node * nodes, true);
    ++graphs_;
  }

  double gap_share(const Device& device) const {
    const GpuModel* model =
        find_gpu(device.name);  // AMD's devices have a number of their own there
    const int major = model ? model->compute_major : device.compute_major;
    return major >= kHopper ? costs_.gap_share_of_hopper : costs_.gap_share;
  }

  /// Shortens the gap before the op: nodes follow each other more closely than launches.
  void follow_closely(CallId call) {
    const DeviceOpId op = trace_.calls.op[call.value];
    if (!op.valid()) return;
    const StreamId stream = trace_.device_ops.stream[op.value];
    const DeviceId device = trace_.streams[stream.value].device;
    if (trace_.devices[device.value].type != DeviceType::kCuda) return;
    const double share = gap_share(trace_.devices[device.value]);
    const Program& program = predictor_.program();
    const bool seen = program.graph().calibration().devices[device.value].stream.samples > 0;
    const Slot start = program.slot_of(start_of(program.graph().points().task(op)));
    program.for_each(start, [&](const Constraint& constraint) {
      if (constraint.kind != EdgeKind::kStreamOrder) return;
      const DurationNs recorded = program.recorded(start) - program.recorded(constraint.from);
      const DurationNs gap =
          seen ? constraint.lag : std::max(constraint.lag, std::min(costs_.unseen_gap, recorded));
      // The gap is the device's time. It remains even if launches cost nothing, so it is not
      // modelled.
      editor_.set_lag(constraint.id, {std::llround(share * static_cast<double>(gap.ns))}, false);
    });
  }

  const Predictor& predictor_;
  const Trace& trace_;
  const GraphCosts costs_;
  std::set<StreamId> outside_;
  Editor editor_;
  std::int64_t dropped_ = 0;
  std::int64_t graphs_ = 0;
};

Proposal propose(const Predictor& predictor) {
  const std::vector<Stretch> steps = stretches(predictor.trace(), predictor.analysis().steps);
  auto joined = [&](const GraphCosts& costs) {
    Graphs graphs(predictor, costs);
    for (const Stretch& step : steps) graphs.add(step);
    return graphs;
  };
  Graphs graphs = joined(kLikelyCosts);
  const bool several = graphs.graphs() > std::ssize(steps);
  if (graphs.graphs() == 0)
    return not_here("each pair of launches has a wait for the device in between");
  Proposal proposal{true,
                    fmt::format("{} launches become one{}",
                                (graphs.dropped() + graphs.graphs()) / graphs.graphs(),
                                several ? ", between device waits and collectives" : ""),
                    graphs.take()};
  for (const GraphCosts& costs : {kLeastCosts, kMostCosts})
    proposal.otherwise.push_back(joined(costs).take());
  const DurationNs gain = predictor.predict(proposal.scenario).gain;
  if (gain.ns > 0) {
    const DurationNs of_launches = predictor.predict(joined(kGapsStay).take()).gain;
    const double seen = std::clamp(ratio(of_launches, gain), 0.0, 1.0);
    proposal.certainty = seen + (1 - seen) * kUnseenCounts;
  }
  return proposal;
}

}  // namespace

const Fix kCudaGraph{
    "cuda-graph",
    "Launch the step as one CUDA graph",
    "launch-bound, kernel-gaps",
    FixKind::kModelled,
    0.1,
    "--cuda-graph on",
    "All launches of a step except the first one, and the first after each device wait and each "
    "collective, disappear, as do the pauses between them that issue work and waits for room in "
    "the queue of launches. A graph costs 2.5 µs "
    "plus 50 ns per node. Gaps between kernels shrink to 0.62, from Hopper on to 0.2; that part of "
    "the "
    "gain counts half in the "
    "ranking.",
    "whether shapes and control flow allow a capture, whether collectives become nodes, and the "
    "gap "
    "between nodes",
    propose};

}  // namespace headway::analyzer
