// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/replay/program.h"

namespace headway::analyzer {

/// A new length for one constraint.
struct Edit {
  /// The constraint no longer holds.
  static constexpr std::int64_t kRemoved = INT64_MIN;

  ConstraintId constraint;
  bool modelled = false;  ///< from a formula, not from the recording
  std::int64_t lag = 0;   ///< ns, or kRemoved; negative: before it
};

/// Tasks of threads that take from one queue, as a loader's workers take batches. With another number of
/// threads, other threads do them at other times. Tasks are taken in the order in which they were begun.
struct Pool {
  struct Task {
    Slot begin;          ///< the first slot after the previous task of its recorded thread
    ConstraintId after;  ///< ties `begin` to that task; none: the thread's first task
    Slot end;
    Slot room;  ///< must also have come before the task begins; none: no condition
  };
  std::vector<Task> tasks;  ///< by `begin`
  std::size_t workers = 1;
  bool in_turns = false;  ///< tasks go to workers in turn, not to the first free one
  bool as_many = false;   ///< the number of workers is the recorded one
  /// All workers exist from the start: a thread's first task begins when there is room, even before its recorded begin.
  bool persistent = false;
};

/// A stretch of a pool's task at a shared server: a read from storage. It lasts until both its own time and
/// its turn at the server are over. The turn takes `held` + `fixed`, its own time is `alone` + the turn. In
/// ns. A factor of the constraint's part applies to `alone` and `held`.
struct Visit {
  ConstraintId constraint;
  std::uint32_t server = 0;  ///< see Scenario::places
  std::int64_t alone = 0;
  std::int64_t held = 0;
  std::int64_t fixed = 0;
};

/// A piece of an edit's lag: time of a part that another thread spent. Where a change makes that part cheaper, the lag also
/// gets shorter.
struct Moved {
  ConstraintId constraint;  ///< of the edit
  PartId part;
  std::int64_t lag = 0;  ///< ns
};

/// The differences from the recorded run. A value type; empty: no difference.
struct Scenario {
  /// By PartId: lags of the part are multiplied by it; empty or shorter: 1.
  std::vector<double> factor;
  std::vector<Edit> edits;  ///< by constraint, each once; they replace the factor
  std::vector<Moved> moved;
  /// Steps are not shorter than this on average: the need of a resource that the graph does not have (a copy engine,
  /// a link, the workers of a loader).
  DurationNs at_least;
  std::vector<Pool> pools;
  /// Visits by tasks of `pools`, by constraint. At each server, turns are taken in the order of tasks.
  std::vector<Visit> visits;
  std::vector<int> places;  ///< by server: number of turns at the same time
  /// A step does the work of this many recorded steps (a larger batch). Lengths are given per recorded step.
  double work = 1;
  /// Changes only what the program does on schedule (between_cause.h), which comes equally often in each run.
  bool on_schedule = false;

  void scale(PartId part, double by) {
    if (factor.size() <= part.value) factor.resize(std::size_t{part.value} + 1, 1.0);
    factor[part.value] *= by;
  }
  void set(ConstraintId constraint, DurationNs lag, bool modelled = false) {
    edits.push_back({constraint, modelled, std::max<std::int64_t>(lag.ns, 0)});
  }
  /// As `set`, but the lag may be negative: the slot then comes by that much before the end of what it waited for.
  void set_earlier(ConstraintId constraint, DurationNs lag) {
    edits.push_back({constraint, false, lag.ns});
  }
  void remove(ConstraintId constraint) { edits.push_back({constraint, false, Edit::kRemoved}); }
  /// Sorts the edits; of several for one constraint a removal wins, then the shorter.
  void finish();
  /// Both at once. Factors multiply; of two edits of one constraint the shorter counts; the pools are those of the first
  /// scenario with another number of workers, else of the first with any. Factors of one shorten what the other moved.
  Scenario with(const Scenario& other) const;

 private:
  void shorten_moved(const Scenario& by);
};

}  // namespace headway::analyzer
