// SPDX-License-Identifier: MIT
#pragma once

#include <span>

namespace headway::analyzer {

/// What more of the steps than this have is how the steps are, and no exception.
inline constexpr double kMostOutliers = 0.1;

/// Steps that take longer than this are outliers among these lengths: median + max(5 MAD, 10 % of the median);
/// where a tenth of them is above that, median + 5 times the distance of that tenth.
double outlier_limit(std::span<const double> lengths);

}  // namespace headway::analyzer
