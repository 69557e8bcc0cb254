// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "analyzer/evidence/device_streams.h"

/// Chains of memory-bound kernels, found by stream order for traces without an op graph.
namespace headway::analyzer {

/// Figures per counted step. A chain is a run of at most eight memory-bound kernels on one stream
/// and in one phase, with at most one reduction (norms, sums, softmax): the limits of one fused
/// kernel. Update kernels are excluded.
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
