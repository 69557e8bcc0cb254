// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/replay/predictor.h"
#include "analyzer/whatif/fixed_bytes.h"
#include "analyzer/whatif/kernel_rates.h"

namespace headway::analyzer {

/// Predicts how long kernels take for twice the samples. The time beyond the shortest kernel's
/// doubles, with these exceptions. It grows less if the larger grid fills the multiprocessors
/// better. The start-up time of a memory-bound kernel stays. A memory-bound product reads its
/// weights only once for all samples. A kernel that handles only weights or their gradients takes
/// no longer. Keeps a reference to the predictor.
class BatchGrowth {
 public:
  /// `power`: cost of a partial last wave of blocks; 1: as much as a full one, 0: nothing.
  BatchGrowth(const Predictor& predictor, double power,
              TimePerByte per_byte = TimePerByte::kLikely);

  /// Duration of the op with twice the samples.
  DurationNs doubled(trace::DeviceOpId op) const;

 private:
  double times(trace::DeviceOpId op) const;

  const Predictor& predictor_;
  ProductRates rates_;
  MemoryRates memory_;
  FixedBytes fixed_;
  DurationNs least_;
  std::vector<std::int32_t> multiprocessors_;  ///< by device
  double power_;
  TimePerByte per_byte_;
};

}  // namespace headway::analyzer
