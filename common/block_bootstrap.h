// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/statistics.h"

namespace headway {

/// How a series is resampled: in blocks, because neighbouring values are correlated.
struct BlockPlan {
  /// Number of consecutive values in a block: longer than the correlation reaches, so that blocks
  /// are independent.
  std::size_t length = 1;
  /// Long values come at regular distances; a block is one or several whole periods.
  bool periodic = false;
  /// Some values are far above the median.
  bool outliers = false;

  /// The number of blocks in a series of `count` values.
  double blocks(std::size_t count) const;
};

/// Chooses the block length after Politis and White (2004, corrected by Patton, Politis and White
/// 2009) from the autocorrelation. Where at least three long values come at regular distances, the
/// length is a multiple of their period. It is at most half the series.
BlockPlan plan_blocks(std::span<const double> series);

/// 95 % percentile-bootstrap interval of the mean. It draws blocks of steps, not single steps:
/// other activity on the machine lasts over many steps, and single draws would give too narrow an
/// interval. Where long steps come regularly, as at each epoch, blocks are whole periods, because
/// the number of long steps in a run is then not random.
Bounds bootstrap_mean(std::span<const double> values, const BlockPlan& plan);

/// How the mean of series B differs from that of A.
struct MeanChange {
  double change = 0;      ///< mean(b) / mean(a) - 1
  Bounds interval;        ///< of `change`
  double p_value = 1;     ///< two-sided; below 0.05 exactly when the 95 % interval excludes 0
  double detectable = 0;  ///< the smallest change that is found with 80 % power
};

/// Moving-block bootstrap of both means on the logarithm, with Student's t for the number of
/// blocks. Where long values come at irregular distances, their number is random: then blocks are
/// also drawn from both series together, and the wider of the two errors counts. `seed` determines
/// the draws. Needs positive values in time order, at least two on each side; otherwise the
/// interval is infinite and `p_value` is 1.
MeanChange compare_means(std::span<const double> a, std::span<const double> b,
                         std::uint64_t seed = 1, int resamples = 1000);

/// The factor by which correlation within a series widens the variance of its mean rank among all
/// values: variance with blocks over variance of independent values, at least 1. For
/// mann_whitney_p().
double rank_design_effect(std::span<const double> a, std::span<const double> b);

/// student_quantile() converts a normal quantile `z` to the quantile of Student's t with the same
/// two-sided p; normal_of_student() converts back. Wallace's approximation: within 3 % from three
/// degrees of freedom, too wide below.
double student_quantile(double z, double freedom);
double normal_of_student(double t, double freedom);

}  // namespace headway
