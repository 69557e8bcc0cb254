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

/// The batches of one training process: when its workers (threads or child processes) make them and when it waits for
/// them.
struct Loader {
  std::vector<BatchTask> made;    ///< making a batch, by start
  std::vector<BatchTask> waited;  ///< waiting for a batch, by end
  /// Batches made before the recording, or its analysed part, began. The first waits are for them.
  std::size_t made_before = 0;
  /// Prefetch depth: as declared, or the most batches in the making or ready at once if that is more.
  std::size_t depth = 0;
  /// Loader for evaluations only: the waits of the surrounding training loop, by end.
  std::vector<BatchTask> outer_waits;
};

/// The number of batches that PyTorch's loader was told to request ahead (workers × prefetch factor). It requests this many
/// even where workers are too slow to have them ready. 0: not known.
std::size_t declared_depth(const trace::Trace& trace);

/// The loaders of a trace by process, also those without batches or waits; then the loaders for evaluations, which run
/// within an epoch of another loader.
std::vector<Loader> find_loaders(const Points& points);

/// For each wait the task that made its batch: the last one with that batch number that ended in time, because each epoch may
/// restart the numbers. None where no such task is recorded.
std::vector<TaskId> makers_of(const Points& points, const Loader& loader);

/// The point from which batch `made` (an index) could begin if `depth` batches fit: the end of the wait
/// for the batch `depth` before it, or the begin of that wait where the worker starts while the wait
/// still returns. None: no batch had to be taken before.
PointId room_for(const Points& points, const Loader& loader, std::size_t made, std::size_t depth);

/// How a worker came to begin a batch.
struct BatchStart {
  /// The worker began later, after it was free and there was room, than waking up takes. It had something else to
  /// do, as at the start of an epoch that restarts workers.
  bool late = false;
  /// For a late batch that began when all made batches were taken: the end of the wait for the last of them, which is
  /// the end of an epoch. For the first batch of an inner loader's worker: the end of the outer loop's last wait
  /// before it. Else none.
  PointId after;
  /// For a batch with `after`: when the epoch's first batch is requested at the latest. That is the begin of the wait
  /// for it, or `after` where this batch was begun before that wait.
  PointId asked;
};

/// One per batch in `made`, in its order.
std::vector<BatchStart> starts_of(const Points& points, const Loader& loader);

}  // namespace headway::analyzer
