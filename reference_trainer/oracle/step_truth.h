// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "reference_trainer/devices/sim/recording.h"

namespace headway::trainer {

/// What the device spent a nanosecond of a step on, or waited for. The names are those of Headway's
/// time classes; `compute` combines its two classes of arithmetic.
enum class TruthClass : std::uint8_t {
  kCompute,
  kOptimizer,
  kCommTransfer,
  kStragglerWait,
  kH2d,
  kD2hOther,
  kIoRead,
  kDecode,
  kInputOther,
  kLaunchGap,
  kFrontendGap,
  kHostSync,
  kAllocator,
  kHostOther,
  kCount_,
};
inline constexpr std::size_t kTruthClasses = static_cast<std::size_t>(TruthClass::kCount_);
std::string_view name_of(TruthClass truth);  ///< "launch_gap"

struct StepTruth {
  std::int64_t step = 0;
  std::int64_t start = 0;  ///< end of the previous step's last update op; for inference: forward op
  std::int64_t end = 0;
  std::array<std::int64_t, kTruthClasses> ns{};  ///< sum: end - start
  std::int64_t hidden_comm_ns = 0;               ///< communication under compute
  std::int64_t hidden_copy_ns = 0;

  std::int64_t operator[](TruthClass truth) const { return ns[static_cast<std::size_t>(truth)]; }
};

/// The exact time by cause of each step of a simulated rank except the first, whose begin is
/// unknown. Concurrent work counts by priority: compute, optimizer, communication, copies. Idle
/// time counts by what held back the op that ends it, which the simulation knows: a gap behind its
/// stream or an event, or the launching thread; in the latter case by what that thread did at each
/// instant. The code works from these causes and uses none of the analyzer's code. `micro_batches`:
/// batches of a step.
std::vector<StepTruth> step_truths(const sim::Recording& recording, std::int64_t micro_batches,
                                   std::int64_t launch_latency_ns);

}  // namespace headway::trainer
