// SPDX-License-Identifier: MIT
#include "analyzer/graph/loaders.h"

#include <algorithm>

namespace headway::analyzer {
namespace {

using namespace trace;

/// The process whose training a loader's batches are for: the nearest that waits for batches, itself
/// or its parent.
ProcessId consumer_of(const Trace& trace, ProcessId process, const std::vector<bool>& waits) {
  if (waits[process.value]) return process;
  std::int32_t parent = trace.processes[process.value].parent_pid;
  for (std::uint32_t p = 0; p < trace.processes.size(); ++p) {
    if (waits[p] && trace.processes[p].pid == parent) return ProcessId{p};
  }
  auto any = std::find(waits.begin(), waits.end(), true);
  return any == waits.end() ? process : ProcessId{static_cast<std::uint32_t>(any - waits.begin())};
}

/// Where the queue is full, a worker begins while the wait still returns: a wait counts as taken
/// from its start.
std::size_t depth_of(const Points& points, const Loader& loader) {
  std::size_t depth = 0;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < loader.made.size(); ++i) {
    while (taken < loader.waited.size() &&
           points.before(start_of(loader.waited[taken].task), start_of(loader.made[i].task)))
      ++taken;
    depth = std::max(depth, i + 1 - std::min(taken, i));
  }
  return depth;
}

}  // namespace

std::vector<Loader> find_loaders(const Points& points) {
  const Trace& trace = points.trace();
  auto process_of = [&](RangeId range) {
    return trace.threads[trace.ranges.thread[range.value].value].process;
  };
  std::vector<bool> waits(trace.processes.size());
  for (RangeId range : points.ranges()) {
    if (trace.info(range)->kind == RangeKind::kInputWait) waits[process_of(range).value] = true;
  }
  std::vector<Loader> loaders(trace.processes.size());
  for (std::size_t i = 0; i < points.ranges().size(); ++i) {
    RangeId range = points.ranges()[i];
    const trace::RangeInfo* info = trace.info(range);
    Loader& loader = loaders[consumer_of(trace, process_of(range), waits).value];
    (info->kind == RangeKind::kBatch ? loader.made : loader.waited)
        .push_back({info->batch, points.range_task(i)});
  }
  for (Loader& loader : loaders) {
    std::sort(loader.waited.begin(), loader.waited.end(),
              [&](const BatchTask& a, const BatchTask& b) {
                return points.before(end_of(a.task), end_of(b.task));
              });
    loader.depth = depth_of(points, loader);
  }
  return loaders;
}

PointId room_for(const Points& points, const Loader& loader, std::size_t made, std::size_t depth) {
  if (made < depth || made - depth >= loader.waited.size()) return PointId::none();
  const TaskId wait = loader.waited[made - depth].task;
  return points.before(end_of(wait), start_of(loader.made[made].task)) ? end_of(wait)
                                                                       : start_of(wait);
}

}  // namespace headway::analyzer
