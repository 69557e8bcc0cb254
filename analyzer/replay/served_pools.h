// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/replay/scenario.h"

namespace headway::analyzer {

/// The pools of a scenario during one pass: who does each task, and when it is begun. A task's own length
/// follows from its constraints. So the next task can be served before the pass has reached the end of this
/// one, and tasks that other workers do may end in another order than recorded.
class ServedPools {
 public:
  ServedPools(const Program& program, const Scenario& scenario);

  /// The slot of the task that is begun next, in the order of slots; none when there are no more.
  Slot next() const { return next_ < turns_.size() ? task_of(turns_[next_]).begin : Slot::none(); }
  /// When next() is begun, from the times of the slots before it. Moves on to the next task.
  std::int64_t serve(std::span<const std::int64_t> time) {
    if (next_ == served_) serve_group(time);
    return begun_[next_++];
  }
  /// How long a visit lasts, by the place of its constraint in `Scenario::visits`: known once its task is
  /// served.
  std::int64_t length_of_visit(std::size_t visit) const { return visit_lengths_[visit]; }

 private:
  struct Turn {
    std::uint32_t pool;
    std::uint32_t task;
  };
  struct Workers {
    std::vector<std::int64_t> free;  ///< by worker: free since
  };
  const Pool::Task& task_of(Turn turn) const { return scenario_.pools[turn.pool].tasks[turn.task]; }
  /// Serves the next task and those begun at the same time, in the order in which they ended in the recording.
  void serve_group(std::span<const std::int64_t> time);
  bool is_begun_with(const Pool::Task& task, const Pool::Task& first) const;
  std::int64_t serve(Turn turn, std::span<const std::int64_t> time);
  std::int64_t length(const Pool::Task& task, std::int64_t begin);
  std::int64_t visit(std::size_t visit, const Constraint& constraint, std::int64_t begin);
  /// Index of the constraint in `Scenario::visits`; the number of visits when it has none.
  std::size_t find_visit(ConstraintId constraint) const;

  const Program& program_;
  const Scenario& scenario_;
  std::vector<Turn> turns_;          ///< by slot
  std::vector<std::int64_t> begun_;  ///< parallel to `turns_`: begin times, as far as served
  std::vector<std::size_t> group_;   ///< indexes into `turns_`
  std::vector<Workers> workers_;
  std::vector<std::int64_t> visit_lengths_;
  std::vector<std::vector<std::int64_t>> place_free_;  ///< by server and place: free since
  std::vector<Constraint> chain_;                      ///< constraints of a task, last first
  std::size_t next_ = 0;
  std::size_t served_ = 0;  ///< number of `turns_` that are served
};

}  // namespace headway::analyzer
