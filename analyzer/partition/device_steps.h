// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/partition/device_ops.h"
#include "analyzer/steps/steps.h"
#include "trace/trace.h"

namespace headway::analyzer {

/// A step's interval on a device.
struct StepWindow {
  std::uint32_t step = 0;  ///< index into Steps::all
  Interval interval;
};

/// The boundaries of steps on a device: a step lasts from the end of the previous step's last
/// optimizer kernel to the end of its own, found through the launches made inside the step. Without
/// optimizer kernels the last kernel counts. Windows are in order and do not overlap; steps without
/// work on the device have none.
std::vector<StepWindow> step_windows(const trace::Trace& trace, const Steps& steps,
                                     const Attribution& attribution, const DeviceWork& work);

}  // namespace headway::analyzer
