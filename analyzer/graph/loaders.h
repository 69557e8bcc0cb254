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
  std::size_t depth =
      0;  ///< prefetch depth: as declared, or the most batches in work or waiting at once
  /// Loader for evaluations only: the waits of the surrounding training loop, by end.
  std::vector<BatchTask> outer_waits;
};

/// PyTorch asks for as many batches ahead as its loader was told, also where workers are too slow to have them made. 0: not known.
std::size_t declared_depth(const trace::Trace& trace);

/// The loaders of a trace by process, also those without batches or waits; then the loaders for evaluations, which run
/// within an epoch of another loader.
std::vector<Loader> find_loaders(const Points& points);

/// For each wait the task that made its batch: the last one of that batch number which ended in time, because each epoch may
/// restart the numbers. None where no such task is recorded.
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
