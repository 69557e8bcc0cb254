// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "common/time.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// Memory that the training thread has the system give it in each step, page by page: what it freed in the step before went
/// back. Counted by the PyTorch hook.
struct PageFaults {
  double per_step = 0;  ///< mean over the last 256 steps, but for those after a fork
  DurationNs time;      ///< of them in a step
  bool libc_returns =
      false;  ///< the C library gives back what is freed, and could be told to keep it
};
/// Of a process that trains; nullopt where nothing was counted.
std::optional<PageFaults> page_faults_of(const trace::Trace& trace, const trace::Process& process);

/// How far the time of one fault may be from `time`, as shares of it.
inline constexpr double kLeastOfFaultTime = 0.7;
inline constexpr double kMostOfFaultTime = 1.35;

}  // namespace headway::analyzer
