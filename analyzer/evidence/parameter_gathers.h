// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// An all-gather of parameters that begins only after the compute before it has ended, although it
/// does not depend on that compute.
struct LateGather {
  trace::DeviceOpId gather;
  trace::DeviceOpId first;  ///< first op of the compute that it could have overlapped
  /// Other communication that still runs when that compute has ended and delays the all-gather.
  std::vector<trace::DeviceOpId> ahead;
  DurationNs
      link_busy;  ///< the same for the previous all-gather: how long other communication delayed it
  TimeNs computed;     ///< end of that compute
  DurationNs exposed;  ///< time with communication alone, from `computed` to the all-gather's end
  DurationNs
      compute;  ///< kernel time since the previous all-gather, minus communication that overlaps it
  bool steady = false;
};

/// All-gathers of parameters that are sharded over ranks (FSDP, ZeRO-3), on one device. They are
/// recognised by the order of collectives in a step: two or more all-gathers with compute between
/// them before the first reduce-scatter of the same communicator. In contrast, all-gathers of
/// activations (sequence parallelism) alternate with reduce-scatters from the start, and those of a
/// sharded optimizer follow its update. Without reduce-scatters, ranges of FSDP or DeepSpeed around
/// the launch identify them.
struct ParameterGathers {
  std::int64_t steps = 0;        ///< number of steady steps
  std::int64_t gathers = 0;      ///< in these steps, with compute before them in their step
  std::int64_t bytes = 0;        ///< of `gathers`, if known
  std::vector<LateGather> late;  ///< in all steps, by time
  /// Exposed time of late ones per steady step, and the part that the compute before could have
  /// hidden.
  DurationNs exposed;
  DurationNs hideable;
};

ParameterGathers find_parameter_gathers(const RuleContext& context, const DevicePartition& device);

}  // namespace headway::analyzer
