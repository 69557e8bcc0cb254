// SPDX-License-Identifier: MIT
#include "analyzer/graph/critical_path.h"

#include <algorithm>

#include "analyzer/graph/path_walk.h"
#include "analyzer/partition/steady_ops.h"
#include "common/error.h"
#include "common/parallel.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// What the path ends with: the last point of a device op, else of a thread.
struct Goal {
  Interval window;
  PointId point;    ///< none: there are only ranges
  ThreadId thread;  ///< of the host, when no device op ends the window
  std::int64_t steps = 0;
};

/// The device whose steady steps end last; the first of equal ones.
const DevicePartition* last_device(const Steps& steps,
                                   const std::vector<DevicePartition>& partitions,
                                   Interval& window) {
  const DevicePartition* last = nullptr;
  for (const DevicePartition& partition : partitions) {
    if (!partition.device.valid()) continue;  // of a host thread
    Interval own{TimeNs::max(), TimeNs::min()};
    for (const DeviceStep& step : partition.steps) {
      if (!counts(steps, step)) continue;
      own.begin = std::min(own.begin, step.interval.begin);
      own.end = std::max(own.end, step.interval.end);
    }
    if (own.empty() || (last && own.end <= window.end)) continue;
    last = &partition;
    window = own;
  }
  return last;
}

/// The op of the device that ends at `t`: the longest, then the first.
DeviceOpId op_ending_at(const Trace& trace, DeviceId device, TimeNs t) {
  DeviceOpId best;
  const DeviceOps& ops = trace.device_ops;
  for (std::uint32_t i = 0; i < ops.size() && ops.start[i] <= t; ++i) {
    if (ops.end[i] != t || trace.streams[ops.stream[i].value].device != device) continue;
    if (!best.valid() || ops.start[i] < ops.start[best.value]) best = DeviceOpId{i};
  }
  return best;
}

Goal host_goal(const DependencyGraph& graph, const Steps& steps) {
  const Trace& trace = graph.trace();
  Goal goal;
  goal.window = {TimeNs::max(), TimeNs::min()};
  for (std::uint32_t i : steps.steady) {
    const Step& step = steps.all[i];
    if (goal.thread.valid() && step.thread != goal.thread) continue;
    goal.thread = step.thread;
    goal.window.begin = std::min(goal.window.begin, step.host.begin);
    goal.window.end = std::max(goal.window.end, step.host.end);
    ++goal.steps;
  }
  if (!goal.thread.valid()) {
    // No device, no steps: the thread with most ranges and calls, over its whole life.
    std::size_t most = 0;
    for (std::uint32_t t = 0; t < trace.threads.size(); ++t) {
      std::size_t rows =
          trace.ranges_of_thread[ThreadId{t}].size() + trace.calls_of_thread[ThreadId{t}].size();
      if (rows <= most) continue;
      most = rows;
      goal.thread = ThreadId{t};
    }
    if (!goal.thread.valid()) return goal;
    auto grow = [&](Interval i) {
      goal.window = {std::min(goal.window.begin, i.begin), std::max(goal.window.end, i.end)};
    };
    for (RangeId r : trace.ranges_of_thread[goal.thread]) grow(trace.ranges.interval(r));
    for (CallId c : trace.calls_of_thread[goal.thread]) grow(trace.calls.interval(c));
  }
  for (PointId point : graph.order()) {
    if (graph.points().time(point) > goal.window.end) break;
    if (graph.points().thread_of(task_of(point)) == goal.thread) goal.point = point;
  }
  return goal;
}

Goal goal_of(const DependencyGraph& graph, const Steps& steps,
             const std::vector<DevicePartition>& partitions, const DevicePartition*& device) {
  Goal goal;
  device = last_device(steps, partitions, goal.window);
  if (!device) return host_goal(graph, steps);
  if (!steps.all.empty()) {
    for (const DeviceStep& step : device->steps) goal.steps += counts(steps, step) ? 1 : 0;
  }
  DeviceOpId op = op_ending_at(graph.trace(), device->device, goal.window.end);
  if (op.valid()) goal.point = end_of(graph.points().task(op));
  return goal;
}

/// Walks back from the goal; pieces come out latest first and meet without gap or overlap.
void walk(const DependencyGraph& graph, const Goal& goal, std::vector<PathPiece>& out) {
  const Points& points = graph.points();
  PathWriter writer(graph, out);
  TimeNs now = goal.window.end;
  auto back_to = [&](TimeNs t) {
    Interval part{std::max(t, goal.window.begin), now};
    now = std::min(now, part.begin);
    return part;
  };
  if (!goal.point.valid()) {
    Interval all = back_to(goal.window.begin);
    if (goal.thread.valid())
      return writer.add_host(goal.thread, all, EdgeKind::kThreadOrder, false);
    return writer.add_unexplained(all);
  }
  PointId point = goal.point;
  if (goal.thread.valid())
    writer.add_host(goal.thread, back_to(points.time(point)), EdgeKind::kThreadOrder, false);
  bool concluded =
      false;  // the task was reached by a conclusion, so that its time rests on it, too
  while (now > goal.window.begin) {
    Binding binding = binding_of(graph, point);
    bool by_conclusion = binding.inferred;
    binding.inferred = binding.inferred || (concluded && binding.kind == EdgeKind::kDuration);
    concluded = by_conclusion;
    if (!binding.from.valid()) {
      // The first event of its thread, or an op whose launch nobody recorded.
      ThreadId thread = points.thread_of(task_of(point));
      Interval rest = back_to(goal.window.begin);
      if (thread.valid()) return writer.add_host(thread, rest, EdgeKind::kThreadOrder, false);
      return writer.add_unexplained(rest);
    }
    writer.add(binding, point, back_to(points.time(binding.from)));
    point = binding.from;
  }
}

void add_up(CriticalPath& path) {
  TimeNs now = path.window.begin;
  for (const PathPiece& piece : path.pieces) {
    HEADWAY_INVARIANT(piece.interval.begin == now && !piece.interval.empty());
    now = piece.interval.end;
    path.of_kind[static_cast<std::size_t>(piece.kind)] += piece.interval.length();
    if (piece.inferred) path.inferred += piece.interval.length();
  }
  HEADWAY_INVARIANT(now == path.window.end);
  std::size_t first = 0;
  for (CriticalPath::StepTimes& step : path.of_step) {
    while (first < path.pieces.size() && path.pieces[first].interval.end <= step.interval.begin)
      ++first;
    for (std::size_t i = first;
         i < path.pieces.size() && path.pieces[i].interval.begin < step.interval.end; ++i) {
      step.of_kind[static_cast<std::size_t>(path.pieces[i].kind)] +=
          intersect(path.pieces[i].interval, step.interval).length();
    }
  }
}

}  // namespace

std::span<const PathKindInfo, kPathKindCount> path_kinds() {
  static constexpr std::array<PathKindInfo, kPathKindCount> kKinds = {{
      {PathKind::kHost, "host", "Host",
       "The program's own work on a host thread, including launches."},
      {PathKind::kInput, "input", "Input",
       "Making a batch, or waiting for a batch of unknown origin."},
      {PathKind::kAllocator, "allocator", "Allocator", "Calls that allocate or free memory."},
      {PathKind::kSync, "sync", "Host sync",
       "From the end of device work to the return of the waiting host call, including that call's "
       "overhead."},
      {PathKind::kLaunch, "launch", "Launch latency",
       "From a launch call to the start of its op, up to this trace's usual launch latency."},
      {PathKind::kCompute, "compute", "Compute", "Kernels and memory sets."},
      {PathKind::kCommunication, "communication", "Communication",
       "Collectives and transfers between devices."},
      {PathKind::kCopy, "copy", "Copies", "Copies to, from and on the device."},
      {PathKind::kDeviceGap, "device_gap", "Device front end",
       "Gap before an op that was ready, up to this trace's usual gap."},
      {PathKind::kUnexplained, "unexplained", "Unexplained",
       "Delays beyond the usual, without a recorded cause."},
  }};
  return kKinds;
}

const PathKindInfo& info(PathKind kind) {
  return path_kinds()[static_cast<std::size_t>(kind)];
}

CriticalPath find_critical_path(const Trace& trace, const Steps& steps,
                                const std::vector<DevicePartition>& partitions) {
  return find_critical_path(DependencyGraph(trace), steps, partitions);
}

CriticalPath find_critical_path(const DependencyGraph& graph, const Steps& steps,
                                const std::vector<DevicePartition>& partitions) {
  CriticalPath path;
  const DevicePartition* device = nullptr;
  Goal goal = goal_of(graph, steps, partitions, device);
  path.tasks = graph.points().task_count();
  for (std::size_t k = 0; k < kEdgeKindCount; ++k)
    path.edges[k] = graph.count(static_cast<EdgeKind>(k));
  path.calibration = graph.calibration();
  if (goal.window.empty()) return path;
  path.window = goal.window;
  path.steps = goal.steps;
  run_parallel(2, [&](std::size_t part) {
    if (part == 0) {
      path.slack_ns = slack_of_ops(graph, path.window);
      return;
    }
    walk(graph, goal, path.pieces);
    std::reverse(path.pieces.begin(), path.pieces.end());
    path.pieces.shrink_to_fit();  // there may be millions, kept as long as the trace is
    if (device && !steps.all.empty()) {
      for (const DeviceStep& step : device->steps) {
        if (counts(steps, step)) path.of_step.push_back({step.step, step.interval, {}});
      }
    } else {
      for (std::uint32_t i : steps.steady) {
        if (steps.all[i].thread == goal.thread)
          path.of_step.push_back({i, intersect(steps.all[i].host, path.window), {}});
      }
    }
    add_up(path);
  });
  return path;
}

}  // namespace headway::analyzer
