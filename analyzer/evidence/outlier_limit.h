// SPDX-License-Identifier: MIT
#pragma once

#include <span>

namespace headway::analyzer {

/// Steps that take longer than this are outliers among these lengths: median + max(5 MAD, 10 % of the median).
double outlier_limit(std::span<const double> lengths);

}  // namespace headway::analyzer
