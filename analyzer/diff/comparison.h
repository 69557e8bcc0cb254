// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/statistics.h"

namespace headway::analyzer {

/// The durations of the steady steps of each run of one side, in the order of time.
using RunSamples = std::vector<std::vector<double>>;

/// How much side B differs from side A. Changes are relative to A: -0.2 is 20 % less.
struct Comparison {
  double a = 0;             ///< of A: the step cost, or the typical step
  double b = 0;             ///< of B
  double change = 0;        ///< b / a - 1
  Bounds interval;          ///< 95 % interval of `change`
  double p_value = 1;       ///< two-sided; one run a side only
  double cliffs_delta = 0;  ///< -1: every value of B below every one of A; 1: above; 0: no effect
  double minimum_detectable = 0;  ///< the least change that would be found with 80 % power
  bool between_runs = false;      ///< several runs on both sides: their variance counts
};

/// The step cost: means, by a block bootstrap (common/block_bootstrap.h). With several runs a side no
/// narrower than Welch's interval of the runs' means, because a handful of runs is too few to
/// resample. Deterministic. An empty side gives an infinite interval.
Comparison compare_cost(const RunSamples& a, const RunSamples& b);

/// The typical step: medians, by Mann-Whitney and a bootstrap of blocks. With several runs a side runs
/// are drawn first, and the interval is no narrower than Welch's of the runs' medians.
Comparison compare_typical(const RunSamples& a, const RunSamples& b);

/// True when the change stands out from noise: both the interval and the test exclude no change.
bool is_significant(const Comparison& comparison);

/// The share of pairs in which b is above a minus that in which it is below.
double cliffs_delta(std::span<const double> a, std::span<const double> b);

}  // namespace headway::analyzer
