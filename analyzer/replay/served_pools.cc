// SPDX-License-Identifier: MIT
#include "analyzer/replay/served_pools.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analyzer/replay/replayer.h"

namespace headway::analyzer {

ServedPools::ServedPools(const Program& program, const Scenario& scenario)
    : program_(program), scenario_(scenario), visit_lengths_(scenario.visits.size()) {
  for (int places : scenario.places)
    place_free_.emplace_back(static_cast<std::size_t>(std::max(1, places)), INT64_MIN);
  for (std::size_t i = 0; i < visit_lengths_.size(); ++i)
    visit_lengths_[i] =
        scenario.visits[i].alone + scenario.visits[i].held + scenario.visits[i].fixed;
  for (std::uint32_t p = 0; p < scenario.pools.size(); ++p) {
    const Pool& pool = scenario.pools[p];
    for (std::uint32_t t = 0; t < pool.tasks.size(); ++t) turns_.push_back({p, t});
    // All workers are free from the recorded begin of the first task on, also those that the recording does not have.
    const std::int64_t first =
        pool.tasks.empty() ? 0 : program.recorded(pool.tasks.front().begin).ns;
    workers_.push_back({std::vector<std::int64_t>(std::max<std::size_t>(1, pool.workers), first)});
  }
  std::ranges::sort(turns_, {}, [&](Turn turn) { return task_of(turn).begin.value; });
  begun_.resize(turns_.size());
}

/// What delays the task must come before the first task begins: only then is its time known.
bool ServedPools::is_begun_with(const Pool::Task& task, const Pool::Task& first) const {
  if (program_.recorded(task.begin) != program_.recorded(first.begin)) return false;
  bool known = !task.room.valid() || task.room < first.begin;
  program_.for_each(task.begin, [&](const Constraint& constraint) {
    known = known && constraint.from < first.begin;
  });
  return known;
}

void ServedPools::serve_group(std::span<const std::int64_t> time) {
  const Pool::Task& first = task_of(turns_[next_]);
  served_ = next_ + 1;
  while (served_ < turns_.size() && is_begun_with(task_of(turns_[served_]), first)) ++served_;
  std::vector<std::size_t>& order = group_;
  order.resize(served_ - next_);
  std::iota(order.begin(), order.end(), next_);
  std::ranges::stable_sort(
      order, {}, [&](std::size_t turn) { return program_.recorded(task_of(turns_[turn]).end); });
  for (const std::size_t turn : order) begun_[turn] = serve(turns_[turn], time);
}

std::int64_t ServedPools::serve(Turn turn, std::span<const std::int64_t> time) {
  const Pool::Task& task = task_of(turn);
  const Pool& pool = scenario_.pools[turn.pool];
  Workers& workers = workers_[turn.pool];
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
  if (!kept && !pool.persistent) ready = std::max(ready, program_.recorded(task.begin).ns);
  std::int64_t& free = pool.in_turns ? workers.free[turn.task % workers.free.size()]
                                     : *std::ranges::min_element(workers.free);
  const std::int64_t begin = std::max(ready, free + pause);
  free = begin + length(task, begin);
  return begin;
}

/// Goes backwards along the thread, then forwards, because the length of a visit depends on when it
/// begins.
std::int64_t ServedPools::length(const Pool::Task& task, std::int64_t begin) {
  chain_.clear();
  std::int64_t slept = 0;
  for (Slot at = task.end; at != task.begin;) {
    const Constraint inner = program_.own_into(at, task.begin);
    // The thread slept: its recorded time up to here stays.
    if (!inner.from.valid()) {
      slept = (program_.recorded(at) - program_.recorded(task.begin)).ns;
      break;
    }
    chain_.push_back(inner);
    at = inner.from;
  }
  std::int64_t end = begin + slept;
  for (auto constraint = chain_.rbegin(); constraint != chain_.rend(); ++constraint) {
    const std::size_t visited = find_visit(constraint->id);
    end += visited < scenario_.visits.size()
               ? visit(visited, *constraint, end)
               : lag_under(scenario_, *constraint).value_or(DurationNs{0}).ns;
  }
  return end - begin;
}

std::size_t ServedPools::find_visit(ConstraintId constraint) const {
  const auto at = std::ranges::lower_bound(scenario_.visits, constraint, {}, &Visit::constraint);
  const bool found = at != scenario_.visits.end() && at->constraint == constraint;
  return found ? static_cast<std::size_t>(at - scenario_.visits.begin()) : scenario_.visits.size();
}

std::int64_t ServedPools::visit(std::size_t visit, const Constraint& constraint,
                                std::int64_t begin) {
  const Visit& read = scenario_.visits[visit];
  const double factor = constraint.part.value < scenario_.factor.size()
                            ? scenario_.factor[constraint.part.value]
                            : 1.0;
  const std::int64_t alone = std::llround(factor * static_cast<double>(read.alone));
  const std::int64_t turn = std::llround(factor * static_cast<double>(read.held)) + read.fixed;
  std::int64_t& free = *std::ranges::min_element(place_free_[read.server]);
  free = std::max(free, begin) + turn;
  return visit_lengths_[visit] = std::max(alone + turn, free - begin);
}

}  // namespace headway::analyzer
