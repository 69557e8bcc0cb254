// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// One rank's part in a layer of experts, in one direction of one step.
struct ExpertPart {
  trace::DeviceOpId brings;                ///< the all-to-all before
  trace::DeviceOpId takes;                 ///< and the one after
  std::vector<trace::DeviceOpId> kernels;  ///< between them, but for communication
  DurationNs time;                         ///< of the kernels
};

/// The layers of experts of all ranks in the trace (evidence/expert_regions.h), by step and place: the parts of all ranks, where
/// all have one. Empty where the trace holds one rank, or none has experts of its own.
std::vector<std::vector<ExpertPart>> expert_layers(const Predictor& predictor);

}  // namespace headway::analyzer
