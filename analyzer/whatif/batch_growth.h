// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/replay/predictor.h"
#include "analyzer/whatif/fixed_bytes.h"
#include "analyzer/whatif/kernel_rates.h"

namespace headway::analyzer {

/// What kernels take for twice the samples: twice their time beyond the shortest kernel's, less what their grid then fills the
/// multiprocessors better, and less what a memory-bound one takes to get under way; a product that memory bounds reads its weights once for all samples, and what handles weights or their
/// gradients alone takes no longer. Keeps a reference to the
/// predictor.
class BatchGrowth {
 public:
  /// `power` of a last wave of blocks that is not full: 1 where it costs a whole one, 0 nothing.
  BatchGrowth(const Predictor& predictor, double power,
              TimePerByte per_byte = TimePerByte::kLikely);

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
