// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/statistics.h"

namespace headway::analyzer {

/// The durations of the steady steps of each run of one side.
using RunSamples = std::vector<std::vector<double>>;

/// How much side B differs from side A. Changes are relative to A: -0.2 is 20 % less.
struct Comparison {
  double a = 0;             ///< median of all values of A
  double b = 0;             ///< of B
  double change = 0;        ///< b / a - 1
  Bounds interval;          ///< 95 % interval of `change`
  double p_value = 1;       ///< Mann-Whitney, two-sided, over single values; one run a side only
  double cliffs_delta = 0;  ///< -1: every value of B below every one of A; 1: above; 0: no effect
  double minimum_detectable = 0;  ///< the least change that would be found with 80 % power
  bool between_runs = false;      ///< several runs on both sides: their variance counts
};

/// With one run a side: percentile bootstrap over steps. With several: bootstrap over runs, then over
/// the steps of each, and no narrower than Welch's interval of the runs' medians, because a handful
/// of runs is too few to resample. Deterministic. An empty side gives an interval without end.
Comparison compare(const RunSamples& a, const RunSamples& b);

/// The share of pairs in which b is above a minus that in which it is below.
double cliffs_delta(std::span<const double> a, std::span<const double> b);

}  // namespace headway::analyzer
