// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "common/machine_figures.h"

namespace headway::calibrate {

/// Times of one size of message.
struct SizeTimes {
  std::int64_t bytes = 0;
  std::vector<double> ns;
};

/// The line through the medians of the sizes: latency, bandwidth, deviation, sizes and samples; the rest is the
/// caller's. Deviations count as shares of the time, so that 1 KiB says as much as 32 MiB, and those over 10 %
/// count less (a size that does not fit into a cache, another algorithm). Neither value is below 0.
/// Throws Error (internal) for fewer than two sizes with times over 0.
MeasuredCollective fit_line(const std::vector<SizeTimes>& sizes);

}  // namespace headway::calibrate
