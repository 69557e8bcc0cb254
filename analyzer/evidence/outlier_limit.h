// SPDX-License-Identifier: MIT
#pragma once

#include <span>

namespace headway::analyzer {

/// A larger share of the steps than this is a usual mode, not outliers.
inline constexpr double kMostOutliers = 0.1;

/// Steps that take longer than this are outliers among `lengths`: median + max(5 MAD, 10 % of the
/// median). If the 90th percentile is above that, the limit is at least median + 5 x (90th
/// percentile - median).
double outlier_limit(std::span<const double> lengths);

}  // namespace headway::analyzer
