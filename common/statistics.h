// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

namespace headway {

/// Percentile of sorted values by linear interpolation between order statistics (the "type 7" of R
/// and NumPy). `p` in [0, 1]; 0 for no values.
double percentile_sorted(std::span<const double> sorted, double p);

/// 0 for no values.
double mean(std::span<const double> values);

/// Median of values in any order; 0 for none.
double median(std::span<const double> values);

/// Median absolute deviation from the median, unscaled; 0 for fewer than two values.
double median_absolute_deviation(std::span<const double> values);

/// A two-sided interval [low, high].
struct Bounds {
  double low = 0;
  double high = 0;
};

/// Percentile-bootstrap interval of median(b) / median(a) - 1 at `confidence` (e.g. 0.95).
/// Deterministic for a given `seed`. Needs at least two values on each side, else {-inf, +inf}.
Bounds bootstrap_median_change(std::span<const double> a, std::span<const double> b,
                               double confidence, std::uint64_t seed = 1, int resamples = 2000);

/// Two-sided Mann-Whitney U test: the probability of ranks at least this different if both samples
/// came from one distribution (normal approximation with tie correction; good from about 8 values a
/// side). 1 when either side has fewer than two values. `design_effect` is the factor by which
/// correlation between neighbours widens the variance (see rank_design_effect()).
double mann_whitney_p(std::span<const double> a, std::span<const double> b,
                      double design_effect = 1);

}  // namespace headway
