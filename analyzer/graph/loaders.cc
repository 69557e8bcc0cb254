// SPDX-License-Identifier: MIT
#include "analyzer/graph/loaders.h"

#include <algorithm>
#include <utility>
#include <vector>

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
    const std::size_t made = loader.made_before + i;
    depth = std::max(depth, made + 1 - std::min(taken, made));
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
    if (info->kind == RangeKind::kStep) continue;
    Loader& loader = loaders[consumer_of(trace, process_of(range), waits).value];
    (info->kind == RangeKind::kBatch ? loader.made : loader.waited)
        .push_back({info->batch, points.range_task(i)});
  }
  for (Loader& loader : loaders) {
    // Workers that begin together take batches by number.
    std::ranges::stable_sort(loader.made, {}, [&](const BatchTask& one) {
      return std::pair(points.time(start_of(one.task)), one.batch);
    });
    std::sort(loader.waited.begin(), loader.waited.end(),
              [&](const BatchTask& a, const BatchTask& b) {
                return points.before(end_of(a.task), end_of(b.task));
              });
    for (const TaskId maker : makers_of(points, loader)) {
      if (maker.valid()) break;
      ++loader.made_before;
    }
    loader.depth = depth_of(points, loader);
  }
  return loaders;
}

std::vector<TaskId> makers_of(const Points& points, const Loader& loader) {
  const auto by_number = [](const BatchTask& a, const BatchTask& b) { return a.batch < b.batch; };
  std::vector<BatchTask> made = loader.made;
  std::stable_sort(made.begin(), made.end(), by_number);
  std::vector<TaskId> makers;
  for (const BatchTask& wait : loader.waited) {
    auto [first, last] = std::equal_range(made.begin(), made.end(), wait, by_number);
    while (first != last && points.before(end_of(wait.task), end_of((last - 1)->task))) --last;
    makers.push_back(first != last ? (last - 1)->task : TaskId::none());
  }
  return makers;
}

PointId room_for(const Points& points, const Loader& loader, std::size_t made, std::size_t depth) {
  const std::size_t all = loader.made_before + made;
  if (all < depth || all - depth >= loader.waited.size()) return PointId::none();
  const TaskId wait = loader.waited[all - depth].task;
  return points.before(end_of(wait), start_of(loader.made[made].task)) ? end_of(wait)
                                                                       : start_of(wait);
}

std::vector<BatchStart> starts_of(const Points& points, const Loader& loader) {
  // No scheduler lets a thread wait so long that may run.
  constexpr DurationNs kMost{50'000'000};
  // Waking alone takes less, and seldom many times what it takes at best on this machine. The tenth of them that is
  // shortest tells it: with as many workers as half an epoch has batches, every second one begins late.
  constexpr DurationNs kLeast{1'000'000};
  constexpr std::int64_t kTimesShort = 20;
  constexpr std::ptrdiff_t kShort = 10;
  // Where even the shortest take as long, none is a wake: no epoch is longer than what is made ahead of it.
  constexpr DurationNs kNoWake{5'000'000};
  constexpr std::size_t kEnough = 8;
  std::vector<TimeNs> worker_free(points.trace().threads.size(), TimeNs::min());
  std::vector<TimeNs> ends;
  std::vector<DurationNs> late(loader.made.size());
  std::vector<DurationNs> known;
  for (std::size_t i = 0; i < loader.made.size(); ++i) {
    const TaskId made = loader.made[i].task;
    ends.push_back(points.interval(made).end);
    TimeNs& free = worker_free[points.thread_of(made).value];
    if (const PointId room = room_for(points, loader, i, loader.depth); room.valid()) {
      late[i] = points.time(start_of(made)) - std::max(points.time(room), free);
      known.push_back(late[i]);
    }
    free = std::max(free, ends.back());
  }
  DurationNs most = kMost;
  if (known.size() >= kEnough) {
    const auto at = known.begin() + std::ssize(known) / kShort;
    std::ranges::nth_element(known, at);
    most = *at > kNoWake ? kNoWake : std::clamp(*at * kTimesShort, kLeast, kMost);
  }
  std::ranges::sort(ends);
  std::vector<BatchStart> starts(loader.made.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    starts[i].late = late[i] >= most;
    if (!starts[i].late) continue;
    const PointId begin = start_of(loader.made[i].task);
    const auto made = static_cast<std::size_t>(std::ranges::upper_bound(ends, points.time(begin)) -
                                               ends.begin()) +
                      loader.made_before;
    if (made == 0 || made > loader.waited.size()) continue;
    const PointId taken = end_of(loader.waited[made - 1].task);
    if (!points.before(taken, begin)) continue;
    starts[i].after = starts[i].asked = taken;
    if (made == loader.waited.size()) continue;
    const PointId asked = start_of(loader.waited[made].task);
    if (points.before(asked, begin)) starts[i].asked = asked;
  }
  return starts;
}

}  // namespace headway::analyzer
