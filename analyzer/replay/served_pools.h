// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/replay/scenario.h"

namespace headway::analyzer {

/// The pools of a scenario during one pass: who does each task, and when it is begun. A task's own length
/// follows from its constraints, so a pass need not come to its end before the next one is served, and
/// tasks that other workers do end in another order than the recorded one.
class ServedPools {
 public:
  ServedPools(const Program& program, const Scenario& scenario);

  /// The slot of the task that is begun next, in the order of slots; none when there are no more.
  Slot next() const { return next_ < turns_.size() ? task().begin : Slot::none(); }
  /// When it is begun, by the times of the slots before it; goes on to the next.
  std::int64_t serve(std::span<const std::int64_t> time);

 private:
  struct Turn {
    std::uint32_t pool;
    std::uint32_t task;
  };
  struct Workers {
    std::vector<std::int64_t> free;  ///< since when
    std::size_t dealt = 0;
  };
  const Pool::Task& task() const {
    return scenario_.pools[turns_[next_].pool].tasks[turns_[next_].task];
  }
  std::int64_t length(const Pool::Task& task) const;

  const Program& program_;
  const Scenario& scenario_;
  std::vector<Turn> turns_;  ///< by slot
  std::vector<Workers> workers_;
  std::size_t next_ = 0;
};

}  // namespace headway::analyzer
