// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/graph/points.h"

namespace headway::analyzer {

struct BatchTask {
  std::int64_t batch;
  TaskId task;
};

/// Who makes batches, and who waits for them, of one training process: workers are its threads or its
/// children.
struct Loader {
  std::vector<BatchTask> made;    ///< by start
  std::vector<BatchTask> waited;  ///< by end
  /// Batches that were made before the recording, or the part of it that is looked at, began: the first waits
  /// are for them.
  std::size_t made_before = 0;
  std::size_t depth = 0;  ///< the most batches that were ever under way
  /// Of a loader for evaluations: the waits of the loop around it, by end.
  std::vector<BatchTask> outer_waits;
};

/// The loaders of a trace; those without a batch or without a wait included. By process; after them those that work
/// amid an epoch of another one, for evaluations.
std::vector<Loader> find_loaders(const Points& points);

/// Who made the batch of each wait, the last of that number that was made in time: numbers may begin again
/// with each epoch. None where nobody is seen to.
std::vector<TaskId> makers_of(const Points& points, const Loader& loader);

/// When batch `made` (an index) could begin, if `depth` fit: the wait for the one so many before it
/// ended, or began where a worker starts while it still returns. None: nothing had to be taken before.
PointId room_for(const Points& points, const Loader& loader, std::size_t made, std::size_t depth);

/// How a worker came to begin a batch.
struct BatchStart {
  /// Later, after there was room and it was free, than waking takes: it had something else to do, as at the
  /// beginning of an epoch that starts workers anew.
  bool late = false;
  /// Of a late one that began when all made batches were taken: the end of the wait for the last of them. The end of
  /// an epoch, after which the worker began. Of the first one of an inner loader's worker: the end of the last wait of
  /// the loop around it.
  PointId after;
  /// Of such a one: where the epoch's first batch is asked for at the latest, the begin of the wait for it; `after`
  /// where the batch was begun before.
  PointId asked;
};

/// Of each batch in `made`.
std::vector<BatchStart> starts_of(const Points& points, const Loader& loader);

}  // namespace headway::analyzer
