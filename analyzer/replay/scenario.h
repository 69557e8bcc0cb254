// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/replay/program.h"

namespace headway::analyzer {

/// Another length for one constraint.
struct Edit {
  /// The constraint holds no longer.
  static constexpr std::int64_t kRemoved = INT64_MIN;

  ConstraintId constraint;
  bool modelled = false;  ///< from a formula, not from the recording
  std::int64_t lag = 0;   ///< ns, or kRemoved; negative: before it
};

/// Tasks of threads that take from one queue, as a loader's workers take batches: with another number of
/// threads other ones do them, in another order of time. Each is taken in the order in which it was begun.
struct Pool {
  struct Task {
    Slot begin;          ///< the first slot after the task before on its recorded thread
    ConstraintId after;  ///< what ties `begin` to that task; none: it was its thread's first
    Slot end;
    Slot room;  ///< must have come, too, before it is begun; none: nothing
  };
  std::vector<Task> tasks;  ///< by `begin`
  std::size_t workers = 1;
  bool in_turns = false;  ///< dealt out to one after the other, not to who is free first
  bool as_many = false;   ///< workers as the recording has
  /// Threads that were started later do not count: their first task comes when there is room.
  bool persistent = false;
};

/// A stretch of a pool's task that lasts until both its own time and its turn at what tasks share are
/// over: a read from storage. Its turn is `held` and `fixed`, its own time is `alone` and those. In ns; a
/// factor of the constraint's part is one of `alone` and `held`.
struct Visit {
  ConstraintId constraint;
  std::uint32_t server = 0;  ///< see Scenario::places
  std::int64_t alone = 0;
  std::int64_t held = 0;
  std::int64_t fixed = 0;
};

/// A piece of an edit's lag: time of a part that another thread spent. Where a change makes that part cheaper, the lag gets
/// shorter, too.
struct Moved {
  ConstraintId constraint;  ///< of the edit
  PartId part;
  std::int64_t lag = 0;  ///< ns
};

/// What is different from the recorded run. A value; empty: nothing.
struct Scenario {
  /// By PartId: lags of the part are multiplied by it; empty or shorter: 1.
  std::vector<double> factor;
  std::vector<Edit> edits;  ///< by constraint, each once; they count instead of the factor
  std::vector<Moved> moved;
  /// Steps are not shorter than this on average: what a resource needs that the graph does not have (a copy engine,
  /// a link, the workers of a loader).
  DurationNs at_least;
  std::vector<Pool> pools;
  /// Of the tasks of `pools`, by constraint, each at its server. Turns are taken in the order of tasks.
  std::vector<Visit> visits;
  std::vector<int> places;  ///< by server: turns that are taken at once
  /// A step does the work of so many recorded ones (a larger batch): lengths are given per recorded one.
  double work = 1;
  /// Changes only what the program does on schedule (between_cause.h): it comes as often in each run, however the steps scatter.
  bool on_schedule = false;

  void scale(PartId part, double by) {
    if (factor.size() <= part.value) factor.resize(std::size_t{part.value} + 1, 1.0);
    factor[part.value] *= by;
  }
  void set(ConstraintId constraint, DurationNs lag, bool modelled = false) {
    edits.push_back({constraint, modelled, std::max<std::int64_t>(lag.ns, 0)});
  }
  /// As `set`, but the lag may be negative: it then comes so long before the end of what it waited for.
  void set_earlier(ConstraintId constraint, DurationNs lag) {
    edits.push_back({constraint, false, lag.ns});
  }
  void remove(ConstraintId constraint) { edits.push_back({constraint, false, Edit::kRemoved}); }
  /// Sorts the edits; of several for one constraint a removal wins, then the shorter.
  void finish();
  /// Both at once: factors multiply, of edits of one constraint the shorter counts, of pools those of the
  /// first that has another number of workers, else of the first that has any. What one moves the other shortens.
  Scenario with(const Scenario& other) const;

 private:
  void shorten_moved(const Scenario& by);
};

}  // namespace headway::analyzer
