// SPDX-License-Identifier: MIT
// D10: the wait for batch b ends after b was made; and a worker begins a batch when the queue of made
// batches has room, that is when an earlier one was taken. As many fit as are declared, or as
// were ever under way at once if that is more.
#include <algorithm>

#include "analyzer/graph/edges.h"
#include "analyzer/graph/loaders.h"

namespace headway::analyzer {
namespace {

using namespace trace;

void add_loader(const Loader& loader, EdgeSink& sink, std::vector<bool>& blocked) {
  const Points& points = sink.points;
  const std::vector<TaskId> makers = makers_of(points, loader);
  for (std::size_t i = 0; i < makers.size(); ++i) {
    if (makers[i].valid())
      sink.add(end_of(makers[i]), end_of(loader.waited[i].task), EdgeKind::kBatch, false);
  }
  std::vector<TimeNs> worker_free(points.trace().threads.size(), TimeNs::min());
  const std::vector<BatchStart> starts = starts_of(points, loader);
  for (std::size_t i = 0; i < loader.made.size(); ++i) {
    TaskId made = loader.made[i].task;
    // A thread that makes its own batches does not wait for room: the time before is its own work.
    if (!loader.waited.empty() &&
        points.thread_of(made) == points.thread_of(loader.waited.front().task))
      continue;
    TimeNs& free = worker_free[points.thread_of(made).value];
    const PointId room = room_for(points, loader, i, loader.depth);
    if (starts[i].after.valid() &&
        sink.add(starts[i].after, start_of(made), EdgeKind::kHandOver, true))
      blocked[start_of(made).value] = true;
    // Until there was room, the worker slept: that time is not its own work. Before a late begin it is.
    if (room.valid() && points.time(room) > free && !starts[i].late &&
        sink.add(room, start_of(made), EdgeKind::kBatchSlot, true))
      blocked[start_of(made).value] = true;
    free = std::max(free, points.interval(made).end);
  }
}

}  // namespace

std::vector<RangeId> task_ranges(const Trace& trace) {
  const bool on_device = trace.calls.size() > 0 || trace.device_ops.size() > 0;
  std::vector<RangeId> result;
  for (std::uint32_t r = 0; r < trace.ranges.size(); ++r) {
    const trace::RangeInfo* info = trace.info(RangeId{r});
    if (!info || trace.ranges.is(RangeId{r}, Ranges::kMark)) continue;
    const bool of_batch = info->kind == RangeKind::kBatch || info->kind == RangeKind::kInputWait;
    if (of_batch ? info->batch >= 0 : info->kind == RangeKind::kStep && !on_device)
      result.push_back(RangeId{r});
  }
  return result;
}

void add_batches(EdgeSink& sink, std::vector<bool>& blocked) {
  for (const Loader& loader : find_loaders(sink.points)) add_loader(loader, sink, blocked);
}

}  // namespace headway::analyzer
