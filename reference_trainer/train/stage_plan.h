// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "reference_trainer/devices/device.h"
#include "reference_trainer/graph/graph.h"

namespace headway::trainer {

/// What one stage of a pipeline has of a model whose blocks are dealt out in order: as many each as can be, what comes before
/// the blocks on the first stage, what comes after them on the last one.
struct StagePlan {
  int stage = 0;
  int stages = 1;
  std::vector<bool> runs;  ///< by node: launched on this stage
  std::vector<double>
      work;  ///< by node: of its work, where all stages launch it (an update of all parameters)
  std::vector<double>
      memory;  ///< by value: of its memory; activations once for each micro batch under way
  /// The tensor that goes to the next stage, and back as its gradient, and the same from the stage before; 0 at the ends.
  std::int64_t sent_elements = 0;
  std::int64_t received_elements = 0;
  bool half = false;  ///< they are in half precision

  bool is_last() const { return stage + 1 == stages; }
  ModelShare share() const;
};

/// `under_way`: micro batches whose activations the stage keeps at once. Throws Error when there are fewer blocks than stages.
StagePlan plan_stage(const Graph& graph, int stage, int stages, int under_way);

}  // namespace headway::trainer
