// SPDX-License-Identifier: MIT
#include "analyzer/replay/steps.h"

#include <algorithm>
#include <set>

#include "analyzer/partition/steady_ops.h"

namespace headway::analyzer {
namespace {

using namespace trace;

std::vector<TimeNs> boundaries_of(const Steps& steps, const DevicePartition& partition) {
  std::vector<TimeNs> times;
  for (const DeviceStep& step : partition.steps) {
    if (!counts(steps, step)) continue;
    times.push_back(step.interval.begin);
    times.push_back(step.interval.end);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

/// For each of `times`, the last point at or before it. A time before the device's first point gets the
/// host's last point by then, else the first of all points.
class LastBefore {
 public:
  explicit LastBefore(const std::vector<TimeNs>& times) : times_(times), best_(times.size()) {}

  /// A point of the host: counts only for the begin of the first window.
  void offer_host(PointId point, TimeNs time) {
    const bool in_time = !times_.empty() && time <= times_.front();
    const bool had_one = host_.point.valid() && host_.time <= times_.front();
    // The last one in time, else the first one after it.
    if (!host_.point.valid() ||
        (in_time ? !had_one || time >= host_.time : !had_one && time < host_.time))
      host_ = {point, time};
  }
  void offer(PointId point, TimeNs time) {
    if (!first_.point.valid() || time < first_.time) first_ = {point, time};
    auto at = std::lower_bound(times_.begin(), times_.end(), time) - times_.begin();
    if (at == static_cast<std::ptrdiff_t>(times_.size())) return;
    Best& best = best_[static_cast<std::size_t>(at)];
    if (!best.point.valid() || time >= best.time) best = {point, time};
  }
  /// False when there was no point at all.
  bool finish() {
    for (std::size_t i = 0; i < best_.size(); ++i) {
      if (best_[i].point.valid()) continue;
      const bool host = host_.point.valid() && host_.time < first_.time;
      best_[i] = i > 0 ? best_[i - 1] : host ? host_ : first_;
    }
    return first_.point.valid();
  }
  Marker marker(const Program& program, TimeNs time) const {
    auto at = std::lower_bound(times_.begin(), times_.end(), time) - times_.begin();
    const Best& best = best_[static_cast<std::size_t>(at)];
    return {program.slot_of(best.point), time - best.time};
  }

 private:
  struct Best {
    PointId point;
    TimeNs time;
  };
  const std::vector<TimeNs>& times_;
  std::vector<Best> best_;
  Best first_;
  Best host_;
};

void offer_points(const Program& program, const DevicePartition& partition,
                  const std::set<ThreadId>& threads, LastBefore& last) {
  const Points& points = program.graph().points();
  const Trace& trace = points.trace();
  if (partition.device.valid()) {
    for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
      if (trace.streams[trace.device_ops.stream[i].value].device != partition.device) continue;
      last.offer(start_of(points.task(DeviceOpId{i})), trace.device_ops.start[i]);
      last.offer(end_of(points.task(DeviceOpId{i})), trace.device_ops.end[i]);
    }
    for (ThreadId thread : threads) {
      for (CallId call : trace.calls_of_thread[thread]) {
        last.offer_host(start_of(points.task(call)), trace.calls.start[call.value]);
        last.offer_host(end_of(points.task(call)), trace.calls.end[call.value]);
      }
    }
    return;
  }
  for (PointId point : program.graph().order()) {
    if (points.thread_of(task_of(point)) == partition.thread) last.offer(point, points.time(point));
  }
}

std::string what_is_missing(const Trace& trace) {
  if (trace.device_ops.size() > 0 && trace.calls.size() == 0)
    return "the recording contains only device work, not the launch calls; record the CUDA API as "
           "well";
  return {};
}

}  // namespace

MarkedSteps mark_steps(const Program& program, const Steps& steps,
                       const std::vector<DevicePartition>& partitions) {
  MarkedSteps marked;
  marked.missing = what_is_missing(program.graph().trace());
  if (!marked.missing.empty()) return marked;
  const DevicePartition* slowest = nullptr;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    const DevicePartition& partition = partitions[i];
    if (partition.steady_steps == 0) continue;
    if (slowest && partition.per_steady_step.total() <= slowest->per_steady_step.total()) continue;
    slowest = &partition;
    marked.partition = i;
  }
  if (!slowest) {
    marked.missing = "no step is steady: record more steps";
    return marked;
  }
  std::vector<TimeNs> times = boundaries_of(steps, *slowest);
  LastBefore last(times);
  std::set<ThreadId> threads;
  for (const Step& step : steps.all) threads.insert(step.thread);
  offer_points(program, *slowest, threads, last);
  if (!last.finish()) {
    marked.missing = "the training thread makes no device calls, so dependencies are unknown";
    return marked;
  }
  for (const DeviceStep& step : slowest->steps) {
    if (!counts(steps, step)) continue;
    marked.steps.push_back({step.step, last.marker(program, step.interval.begin),
                            last.marker(program, step.interval.end)});
  }
  return marked;
}

}  // namespace headway::analyzer
