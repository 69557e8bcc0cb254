// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Exchanges of gradients after each backward pass of a step except the last. The gradients are
/// accumulated, and the update needs them only after the last pass, so these exchanges are not
/// needed. A pass is an outermost range of the backward phase on the step's thread.
struct EarlyExchanges {
  std::int64_t passes =
      0;  ///< backward passes of a step; 0 unless there are several and all exchange the same
  std::vector<trace::DeviceOpId> sums;     ///< sums on the device, by launch
  std::vector<trace::DeviceOpId> kernels;  ///< other ops of the exchange, such as packing
  /// On a thread without a device: its ranges of communication, with the broadcasts of buffers
  /// before the next pass; by start.
  std::vector<trace::RangeId> ranges;

  bool empty() const { return sums.empty() && ranges.empty(); }
};

/// One result for each partition, over all its steps; empty unless nine tenths of its steady steps
/// agree. Linear in ranges, collectives and device ops.
std::vector<EarlyExchanges> find_early_exchanges(const RuleContext& context,
                                                 std::span<const DevicePartition> partitions);

}  // namespace headway::analyzer
