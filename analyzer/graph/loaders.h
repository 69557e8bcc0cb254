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
  std::size_t depth = 0;          ///< the most batches that were ever under way
};

/// The loaders of a trace; those without a batch or without a wait included. By process.
std::vector<Loader> find_loaders(const Points& points);

/// When batch `made` (an index) could begin, if `depth` fit: the wait for the one so many before it
/// ended, or began where a worker starts while it still returns. None: nothing had to be taken before.
PointId room_for(const Points& points, const Loader& loader, std::size_t made, std::size_t depth);

}  // namespace headway::analyzer
