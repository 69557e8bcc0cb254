// SPDX-License-Identifier: MIT
#include "analyzer/graph/loaders.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace headway::analyzer {
namespace {

using namespace trace;

/// The process that a loader's batches are for: `process` itself if it waits for batches, else its
/// parent if that does, else the first process that does.
ProcessId consumer_of(const Trace& trace, ProcessId process, const std::vector<bool>& waits) {
  if (waits[process.value]) return process;
  std::int32_t parent = trace.processes[process.value].parent_pid;
  for (std::uint32_t p = 0; p < trace.processes.size(); ++p) {
    if (waits[p] && trace.processes[p].pid == parent) return ProcessId{p};
  }
  auto any = std::find(waits.begin(), waits.end(), true);
  return any == waits.end() ? process : ProcessId{static_cast<std::uint32_t>(any - waits.begin())};
}

/// For an inner loader: the end of the outer loop's last wait before batch `made` was begun. From then on the
/// training thread could start the worker.
PointId outer_wait_before(const Points& points, const Loader& loader, std::size_t made) {
  const PointId begin = start_of(loader.made[made].task);
  const auto after = std::ranges::partition_point(loader.outer_waits, [&](const BatchTask& one) {
    return points.before(end_of(one.task), begin);
  });
  return after == loader.outer_waits.begin() ? PointId::none() : end_of((after - 1)->task);
}

/// The most batches in the making or ready at once. Where the queue is full, a worker begins while the
/// wait still returns, so a batch counts as taken from the start of the wait for it.
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

void sort_batches(const Points& points, Loader& loader) {
  // Workers that begin together take batches by number.
  std::ranges::stable_sort(loader.made, {}, [&](const BatchTask& one) {
    return std::pair(points.time(start_of(one.task)), one.batch);
  });
  std::sort(loader.waited.begin(), loader.waited.end(),
            [&](const BatchTask& a, const BatchTask& b) {
              return points.before(end_of(a.task), end_of(b.task));
            });
}

/// The batches that a thread made, as indexes of the waits for them.
struct Worker {
  std::vector<std::size_t> waits;
  TimeNs begin = TimeNs::max();  ///< of its first batch

  std::size_t first() const { return waits.front(); }
  std::size_t last() const { return waits.back(); }
  bool is_waited_for_between(std::size_t from, std::size_t to) const {
    const auto wait = std::ranges::lower_bound(waits, from);
    return wait != waits.end() && *wait <= to;
  }
};

/// Moves a loader for evaluations amid an epoch out of `loader`. Its workers begin when several batches
/// were taken since an earlier worker's first one, and are done before that worker is waited for again.
/// So their batches count neither as made ahead for the outer loop nor as late.
Loader split_inner(const Points& points, Loader& loader) {
  constexpr std::size_t kSeveral = 3;
  const std::vector<TaskId> makers = makers_of(points, loader);
  std::map<ThreadId, Worker> workers;
  for (std::size_t i = 0; i < makers.size(); ++i) {
    if (!makers[i].valid()) continue;
    workers[points.thread_of(makers[i])].waits.push_back(i);
  }
  for (const BatchTask& made : loader.made) {
    const auto worker = workers.find(points.thread_of(made.task));
    if (worker != workers.end())
      worker->second.begin = std::min(worker->second.begin, points.interval(made.task).begin);
  }
  std::vector<std::pair<ThreadId, const Worker*>> in_turn;
  for (const auto& [thread, worker] : workers) in_turn.emplace_back(thread, &worker);
  std::ranges::sort(in_turn, {}, [](const auto& one) { return one.second->first(); });
  std::set<ThreadId> inner;
  std::vector<const Worker*> earlier;  // still waited for
  for (const auto& next : in_turn) {
    const Worker* one = next.second;
    std::erase_if(earlier, [&](const Worker* other) { return other->last() < one->first(); });
    for (const Worker* outer : earlier) {
      if (one->first() == one->last() || outer->last() <= one->last() ||
          outer->first() + kSeveral > one->first() ||
          outer->is_waited_for_between(one->first(), one->last()))
        continue;
      const TaskId taken = loader.waited[outer->first() + kSeveral - 1].task;
      if (points.interval(taken).end < one->begin) inner.insert(next.first);
    }
    earlier.push_back(one);
  }
  if (inner.empty()) return {};
  Loader out;
  for (std::size_t i = 0; i < makers.size(); ++i) {
    if (makers[i].valid() && inner.contains(points.thread_of(makers[i])))
      out.waited.push_back(loader.waited[i]);
  }
  const auto is_inner = [&](const BatchTask& made) {
    return inner.contains(points.thread_of(made.task));
  };
  std::ranges::copy_if(loader.made, std::back_inserter(out.made), is_inner);
  std::erase_if(loader.made, is_inner);
  std::size_t place = 0;
  std::erase_if(loader.waited, [&](const BatchTask&) {
    const TaskId maker = makers[place++];
    return maker.valid() && inner.contains(points.thread_of(maker));
  });
  out.outer_waits = loader.waited;
  return out;
}

}  // namespace

std::size_t declared_depth(const Trace& trace) {
  const std::string_view loader = trace.setting("DataLoader");
  auto value_of = [&](std::string_view key) {
    std::size_t value = 0;
    if (const std::size_t at = loader.find(key); at != std::string_view::npos)
      std::from_chars(loader.data() + at + key.size(), loader.data() + loader.size(), value);
    return std::min<std::size_t>(value, 1024);
  };
  return value_of("num_workers=") * value_of("prefetch_factor=");
}

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
  for (std::size_t i = 0; i < trace.processes.size(); ++i) {
    sort_batches(points, loaders[i]);
    if (Loader inner = split_inner(points, loaders[i]); !inner.waited.empty())
      loaders.push_back(std::move(inner));
  }
  for (Loader& loader : loaders) {
    for (const TaskId maker : makers_of(points, loader)) {
      if (maker.valid()) break;
      ++loader.made_before;
    }
    loader.depth = depth_of(points, loader);
    if (loader.outer_waits.empty() && !loader.made.empty())
      loader.depth = std::max(loader.depth, declared_depth(trace));
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
  // No scheduler keeps a runnable thread waiting this long.
  constexpr DurationNs kMost{50'000'000};
  // Waking up takes less than this, and seldom many times its minimum on this machine. The 10th percentile stands for
  // that minimum: with half as many workers as an epoch has batches, every second batch begins late.
  constexpr DurationNs kLeast{1'000'000};
  constexpr std::int64_t kTimesShort = 20;
  constexpr std::ptrdiff_t kShort = 10;
  // Where even the shortest take longer than this, none is a wake-up: no epoch is longer than what is made ahead.
  constexpr DurationNs kNoWake{5'000'000};
  constexpr std::size_t kEnough = 8;
  std::vector<TimeNs> worker_free(points.trace().threads.size(), TimeNs::min());
  std::vector<TimeNs> ends;
  std::vector<DurationNs> late(loader.made.size());
  std::vector<bool> first(loader.made.size());  // of its thread
  std::vector<DurationNs> known;
  for (std::size_t i = 0; i < loader.made.size(); ++i) {
    const TaskId made = loader.made[i].task;
    ends.push_back(points.interval(made).end);
    TimeNs& free = worker_free[points.thread_of(made).value];
    first[i] = free == TimeNs::min();
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
    if (const PointId around = first[i] ? outer_wait_before(points, loader, i) : PointId::none();
        around.valid()) {
      starts[i] = {true, around, around};
      continue;
    }
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
