// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/statistics.h"

namespace headway {

/// How a series is resampled: in blocks, because neighbours are alike.
struct BlockPlan {
  /// Values that stay together: longer than the correlation reaches, so that blocks are independent.
  std::size_t length = 1;
  /// Long values come at regular distances, and a block holds one or several whole periods.
  bool periodic = false;
  /// Some values are far longer than the median.
  bool outliers = false;

  /// Blocks in a series of `count` values.
  double blocks(std::size_t count) const;
};

/// The length follows Politis and White (2004, corrected by Patton, Politis and White 2009) from the
/// autocorrelation; where at least three long values come at regular distances it is a multiple of
/// their period. At most half the series.
BlockPlan plan_blocks(std::span<const double> series);

/// 95 % percentile-bootstrap interval of the mean. Blocks of steps are drawn, not single ones: what
/// else the machine does lasts over many steps, and drawn one by one they would seem to tell the
/// mean better than they do. Where long steps come regularly, as with each epoch, blocks are whole periods: how many
/// of them a run has is no chance.
Bounds bootstrap_mean(std::span<const double> values, const BlockPlan& plan);

/// How the mean of series B differs from that of A.
struct MeanChange {
  double change = 0;      ///< mean(b) / mean(a) - 1
  Bounds interval;        ///< of `change`
  double p_value = 1;     ///< two-sided; below 0.05 just when the 95 % interval excludes no change
  double detectable = 0;  ///< the least change that is found with 80 % power
};

/// Moving-block bootstrap of both means; Student's t for the number of blocks, on the logarithm. Where
/// long values come at no regular distance their number is chance: then blocks are drawn from both
/// series together, too, and the wider of both errors counts. `seed` decides the draws. Positive
/// values in the order of time, at least two on each side; else nothing can be told.
MeanChange compare_means(std::span<const double> a, std::span<const double> b,
                         std::uint64_t seed = 1, int resamples = 1000);

/// By how much correlation within a series widens the error of its mean rank among all values: the
/// variance in blocks over that of independent values, at least 1. For mann_whitney_p().
double rank_design_effect(std::span<const double> a, std::span<const double> b);

/// The quantile of Student's t at which a two-sided test has the normal's p at `z`, and back.
/// Wallace's approximation: within 3 % from three degrees of freedom, too wide below.
double student_quantile(double z, double freedom);
double normal_of_student(double t, double freedom);

}  // namespace headway
