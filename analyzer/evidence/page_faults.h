// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "common/time.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// Page faults of the training thread in each step: memory freed in the step before went back to
/// the system, which now maps it again page by page. The PyTorch hook counts them.
struct PageFaults {
  double per_step = 0;  ///< mean over the last 256 steps, without those after a fork
  DurationNs time;      ///< time of a step's page faults
  bool libc_returns =
      false;  ///< the C library returns freed memory to the system, and a setting can prevent that
};
/// The page faults of a training process; nullopt if they were not counted.
std::optional<PageFaults> page_faults_of(const trace::Trace& trace, const trace::Process& process);

/// Range of the true time, as multiples of `time`.
inline constexpr double kLeastOfFaultTime = 0.7;
inline constexpr double kMostOfFaultTime = 1.35;

}  // namespace headway::analyzer
