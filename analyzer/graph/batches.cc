// SPDX-License-Identifier: MIT
// D10: the wait for batch b ends after b was made; and a worker begins a batch when the queue of made
// batches has room, that is when an earlier one was taken. How many fit is the most that were ever
// under way.
#include <algorithm>

#include "analyzer/graph/edges.h"
#include "analyzer/graph/loaders.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// No scheduler lets a thread wait so long that may run.
constexpr DurationNs kLate{50'000'000};

void add_loader(const Loader& loader, EdgeSink& sink, std::vector<bool>& blocked) {
  const Points& points = sink.points;
  std::vector<BatchTask> by_batch = loader.made;
  std::stable_sort(by_batch.begin(), by_batch.end(),
                   [](const BatchTask& a, const BatchTask& b) { return a.batch < b.batch; });
  for (const BatchTask& wait : loader.waited) {
    // Numbers may begin again with each epoch: the last of that number that was made in time.
    auto [first, last] =
        std::equal_range(by_batch.begin(), by_batch.end(), wait,
                         [](const BatchTask& a, const BatchTask& b) { return a.batch < b.batch; });
    while (first != last && points.before(end_of(wait.task), end_of((last - 1)->task))) --last;
    if (first != last)
      sink.add(end_of((last - 1)->task), end_of(wait.task), EdgeKind::kBatch, false);
  }
  std::vector<TimeNs> worker_free(points.trace().threads.size(), TimeNs::min());
  for (std::size_t i = 0; i < loader.made.size(); ++i) {
    TaskId made = loader.made[i].task;
    TimeNs& free = worker_free[points.thread_of(made).value];
    const PointId room = room_for(points, loader, i, loader.depth);
    // Until there was room, the worker slept: that time is not its own. One that is late by more than waking takes had
    // something else to do, as at the beginning of an epoch that starts workers anew: then its pause is.
    if (room.valid() && points.time(room) > free &&
        points.time(start_of(made)) - points.time(room) < kLate &&
        sink.add(room, start_of(made), EdgeKind::kBatchSlot, true))
      blocked[start_of(made).value] = true;
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
  for (const Loader& loader : find_loaders(sink.points)) add_loader(loader, sink, blocked);
}

}  // namespace headway::analyzer
