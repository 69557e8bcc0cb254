// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "common/machine_figures.h"

namespace headway::calibrate {

/// The measured times of one message size.
struct SizeTimes {
  std::int64_t bytes = 0;
  std::vector<double> ns;
};

/// Fits a line through the medians of the sizes. Fills in latency, bandwidth, deviation, sizes and
/// samples; the caller fills in the rest. Deviations count as shares of the time, so that 1 KiB
/// weighs as much as 32 MiB. Those over 10 % count less (a size that does not fit into a cache,
/// another algorithm). Neither latency nor time per byte is below 0. Throws Error (internal) for
/// fewer than two sizes with times over 0.
MeasuredCollective fit_line(const std::vector<SizeTimes>& sizes);

}  // namespace headway::calibrate
