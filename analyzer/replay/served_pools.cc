// SPDX-License-Identifier: MIT
#include "analyzer/replay/served_pools.h"

#include <algorithm>

#include "analyzer/replay/replayer.h"

namespace headway::analyzer {

ServedPools::ServedPools(const Program& program, const Scenario& scenario)
    : program_(program), scenario_(scenario) {
  for (std::uint32_t p = 0; p < scenario.pools.size(); ++p) {
    const Pool& pool = scenario.pools[p];
    for (std::uint32_t t = 0; t < pool.tasks.size(); ++t) turns_.push_back({p, t});
    // Workers that the recording does not have are there when the first task is begun.
    const std::int64_t first =
        pool.tasks.empty() ? 0 : program.recorded(pool.tasks.front().begin).ns;
    workers_.push_back({std::vector<std::int64_t>(std::max<std::size_t>(1, pool.workers), first)});
  }
  std::ranges::sort(turns_, {}, [&](Turn turn) {
    return scenario.pools[turn.pool].tasks[turn.task].begin.value;
  });
}

std::int64_t ServedPools::serve(std::span<const std::int64_t> time) {
  const Pool::Task& task = this->task();
  const Pool& pool = scenario_.pools[turns_[next_].pool];
  Workers& workers = workers_[turns_[next_].pool];
  ++next_;
  std::int64_t pause = 0;  // of a worker between two tasks
  std::int64_t ready = task.room.valid() ? time[task.room.value] : INT64_MIN;
  bool kept = false;
  program_.for_each(task.begin, [&](const Constraint& constraint) {
    kept = true;
    const std::optional<DurationNs> lag = lag_under(scenario_, constraint);
    if (!lag) return;
    if (constraint.id == task.after) {
      pause = lag->ns;
    } else {
      ready = std::max(ready, time[constraint.from.value] + lag->ns);
    }
  });
  if (!kept) ready = std::max(ready, program_.recorded(task.begin).ns);
  std::int64_t& free = pool.in_turns ? workers.free[workers.dealt % workers.free.size()]
                                     : *std::ranges::min_element(workers.free);
  ++workers.dealt;
  const std::int64_t begin = std::max(ready, free + pause);
  free = begin + length(task);
  return begin;
}

/// Along its thread, backwards; of two ways into a slot the one that is inside the other.
std::int64_t ServedPools::length(const Pool::Task& task) const {
  std::int64_t sum = 0;
  for (Slot at = task.end; at != task.begin;) {
    Constraint inner;
    program_.for_each(at, [&](const Constraint& constraint) {
      const bool own =
          constraint.kind == EdgeKind::kDuration || constraint.kind == EdgeKind::kThreadOrder;
      if (own && constraint.from.value >= task.begin.value &&
          (!inner.from.valid() || inner.from < constraint.from))
        inner = constraint;
    });
    // The thread slept meanwhile: what it took then.
    if (!inner.from.valid())
      return sum + (program_.recorded(at) - program_.recorded(task.begin)).ns;
    sum += lag_under(scenario_, inner).value_or(DurationNs{0}).ns;
    at = inner.from;
  }
  return sum;
}

}  // namespace headway::analyzer
