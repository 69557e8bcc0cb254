// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "common/statistics.h"

namespace headway::tune {

/// What stands for the step of a run: the median on a machine where other things happen, the mean where
/// the clock is simulated. The step cost is the mean, too, and is compared as `headway diff` compares it: by blocks of
/// neighbours, so that one recording a side can be told from another.
enum class Typical : std::uint8_t { kMedian, kMean, kStepCost };

/// Durations of the steady steps of one run, in seconds.
using Block = std::vector<double>;

double typical(const std::vector<double>& values, Typical how);

/// How much shorter the step became, as a share of it: 0.25 is a quarter; negative: it became longer.
struct Gain {
  double share = 0;
  Bounds interval;             ///< 95 %
  std::vector<double> ratios;  ///< step after / step before, in every resample; none of step costs
};

/// From the runs of an interleaved comparison. The interval is a bootstrap that draws runs, and steps
/// within them, because steps of one run have more in common than those of two. `exact`: the runs have
/// no noise, and the interval no width. Deterministic for a seed.
Gain measured_gain(const std::vector<Block>& before, const std::vector<Block>& after, Typical how,
                   bool exact, std::uint64_t seed);
/// Of the 95 % interval of the step cost that these runs have, as a share of it.
double half_width_of_cost(const std::vector<Block>& runs);
/// The gain of one change after the other; comparisons of different seeds, whose draws are independent.
Gain chained(const Gain& first, const Gain& second);
/// No change.
Gain no_gain();

/// How far comparisons of the same settings differ: collects runs of like settings. By the median of
/// their differences, so that one run which something else has slowed down does not decide.
class Noise {
 public:
  /// The least that is called a gain: what is smaller is not worth a switch.
  explicit Noise(double floor) : floor_(floor) {}
  /// Typical steps of runs with the same settings.
  void add(const std::vector<double>& steps);
  /// Half the width of the 95 % interval that `pairs` runs a side would have, as a share of the step.
  double share(int pairs) const;

 private:
  double floor_;
  std::vector<double> differences_;  ///< of any two runs of like settings, as shares of the step
};

}  // namespace headway::tune
