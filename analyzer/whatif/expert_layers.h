// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/replay/predictor.h"

namespace headway::analyzer {

/// One rank's part in a layer of experts, in one pass (forward or backward) of one step.
struct ExpertPart {
  trace::DeviceOpId brings;                ///< the all-to-all that brings the tokens
  trace::DeviceOpId takes;                 ///< the all-to-all that returns them
  std::vector<trace::DeviceOpId> kernels;  ///< between them, without communication
  DurationNs time;                         ///< of the kernels
};

/// The layers of experts in the trace (evidence/expert_regions.h), by step and place. Each element
/// has the parts of all ranks; layers that a rank lacks are left out. Empty if the trace has one
/// rank or no experts.
std::vector<std::vector<ExpertPart>> expert_layers(const Predictor& predictor);

}  // namespace headway::analyzer
