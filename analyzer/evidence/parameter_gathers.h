// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// An all-gather of parameters that begins only when the compute before it is over, though it needs nothing from it.
struct LateGather {
  trace::DeviceOpId gather;
  trace::DeviceOpId first;  ///< of the compute that it could have run beside
  /// Other communication that goes on when that compute has ended, and stands before it.
  std::vector<trace::DeviceOpId> ahead;
  DurationNs
      link_busy;  ///< by such communication before the all-gather before, while `first` waits for that
  TimeNs computed;     ///< end of that compute
  DurationNs exposed;  ///< from the end of the compute to its own end: only communication runs
  DurationNs
      compute;  ///< kernels between the all-gather before and this one, no communication beside them
  bool steady = false;
};

/// All-gathers that bring parameters which the ranks share (FSDP, ZeRO-3), on one device. Told by the order of collectives in
/// a step: two or more all-gathers with compute between them before the first reduce-scatter of the same communicator. The
/// all-gathers of activations (sequence parallelism) take turns with reduce-scatters from the start, and those of a sharded
/// optimizer follow its update. Without reduce-scatters, ranges of FSDP or DeepSpeed around their launch tell.
struct ParameterGathers {
  std::int64_t steps = 0;        ///< steady ones
  std::int64_t gathers = 0;      ///< in them, with compute before them in their step
  std::int64_t bytes = 0;        ///< of those, where known
  std::vector<LateGather> late;  ///< in all steps, by time
  /// Per steady step, of late ones: exposed time, and what of it the compute before could have hidden.
  DurationNs exposed;
  DurationNs hideable;
};

ParameterGathers find_parameter_gathers(const RuleContext& context, const DevicePartition& device);

}  // namespace headway::analyzer
