// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "analyzer/evidence/device_streams.h"

/// Chains of memory-bound kernels told from the order on a stream, where no op graph says what hands
/// its result to what.
namespace headway::analyzer {

/// Per counted step. A chain is a run of memory-bound kernels on one stream, in one phase, at most
/// eight of them and at most one that reduces (norms, sums, softmax), since one kernel can hold no
/// more; kernels of the update are left out.
struct StreamChains {
  DurationNs recoverable;  ///< all but the longest kernel of each chain: a fused one takes as long
  DurationNs time;
  double chains = 0;
  double kernels = 0;
  std::string costliest;  ///< "cast → elementwise": the families of the costliest kind of chain
  std::vector<Evidence> evidence;
};
StreamChains stream_chains(const RuleContext& context, const DevicePartition& device);

}  // namespace headway::analyzer
