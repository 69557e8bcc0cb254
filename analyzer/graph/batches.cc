// SPDX-License-Identifier: MIT
// D10: the wait for batch b ends after b was made; and a worker begins a batch when the queue of made
// batches has room, that is when an earlier one was taken. How many fit is the most that were ever
// under way.
#include <algorithm>

#include "analyzer/graph/edges.h"

namespace headway::analyzer {
namespace {

using namespace trace;

struct BatchTask {
  std::int64_t batch;
  TaskId task;
};

/// Makers and waits of one process tree: loaders are threads of the training process or its
/// children.
struct Loader {
  std::vector<BatchTask> made;    ///< by start
  std::vector<BatchTask> waited;  ///< by end
};

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

void add_loader(const Loader& loader, EdgeSink& sink, std::vector<bool>& blocked) {
  const Points& points = sink.points;
  auto time_less = [&](PointId a, PointId b) { return points.before(a, b); };
  std::vector<BatchTask> by_batch = loader.made;
  std::stable_sort(by_batch.begin(), by_batch.end(),
                   [](const BatchTask& a, const BatchTask& b) { return a.batch < b.batch; });
  for (const BatchTask& wait : loader.waited) {
    // Numbers may begin again with each epoch: the last of that number that was made in time.
    auto [first, last] =
        std::equal_range(by_batch.begin(), by_batch.end(), wait,
                         [](const BatchTask& a, const BatchTask& b) { return a.batch < b.batch; });
    while (first != last && time_less(end_of(wait.task), end_of((last - 1)->task))) --last;
    if (first != last)
      sink.add(end_of((last - 1)->task), end_of(wait.task), EdgeKind::kBatch, false);
  }
  // Where the queue is full, a worker begins while the wait still returns: a wait counts as taken
  // from its start.
  std::size_t depth = 0;
  std::size_t taken = 0;
  for (std::size_t i = 0; i < loader.made.size(); ++i) {
    while (taken < loader.waited.size() &&
           time_less(start_of(loader.waited[taken].task), start_of(loader.made[i].task)))
      ++taken;
    depth = std::max(depth, i + 1 - std::min(taken, i));
  }
  std::vector<TimeNs> worker_free(points.trace().threads.size(), TimeNs::min());
  for (std::size_t i = 0; i < loader.made.size(); ++i) {
    TaskId made = loader.made[i].task;
    TimeNs& free = worker_free[points.thread_of(made).value];
    if (i >= depth && i - depth < loader.waited.size()) {
      TaskId wait = loader.waited[i - depth].task;
      PointId room = time_less(end_of(wait), start_of(made)) ? end_of(wait) : start_of(wait);
      // Until there was room, the worker slept: that time is not its own.
      if (points.time(room) > free && sink.add(room, start_of(made), EdgeKind::kBatchSlot, true))
        blocked[start_of(made).value] = true;
    }
    free = std::max(free, points.interval(made).end);
  }
}

}  // namespace

std::vector<RangeId> batch_ranges(const Trace& trace) {
  std::vector<RangeId> result;
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const trace::RangeInfo* info = trace.info(RangeId{r});
    if (!info || info->batch < 0 || trace.ranges.is(RangeId{r}, Ranges::kMark)) continue;
    if (info->kind == RangeKind::kBatch || info->kind == RangeKind::kInputWait)
      result.push_back(RangeId{r});
  }
  return result;
}

void add_batches(EdgeSink& sink, std::vector<bool>& blocked) {
  const Points& points = sink.points;
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
    add_loader(loader, sink, blocked);
  }
}

}  // namespace headway::analyzer
