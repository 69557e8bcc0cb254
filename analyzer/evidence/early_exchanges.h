// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// What ranks exchange after each of a step's backward passes but its last, though the update needs gradients only then: they are
/// accumulated, and exchanged nevertheless. Passes are the ranges of that phase on the step's thread.
struct EarlyExchanges {
  std::int64_t passes =
      0;  ///< backward passes of a step; 0: steps have one, or not each exchanges the same
  std::vector<trace::DeviceOpId> sums;     ///< all-reduces on a device, by launch
  std::vector<trace::DeviceOpId> kernels;  ///< that pack and unpack those, and the like
  /// What a host thread communicates or waits for itself, with the broadcasts before the next pass; by start.
  std::vector<trace::RangeId> ranges;

  bool empty() const { return sums.empty() && ranges.empty(); }
};

/// For each partition, of all its steps, where nine of ten steady ones agree. Linear in ranges, collectives and device ops.
std::vector<EarlyExchanges> find_early_exchanges(const RuleContext& context,
                                                 std::span<const DevicePartition> partitions);

}  // namespace headway::analyzer
