// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "common/statistics.h"

namespace headway::tune {

/// How one value represents the steps of a run. kMedian: on a machine with other activity. kMean:
/// where the clock is simulated. kStepCost: also the mean, but compared as `headway diff` does, by
/// blocks of neighbouring steps, so that one recording a side is enough for a comparison.
enum class Typical : std::uint8_t { kMedian, kMean, kStepCost };

/// Durations of the steady steps of one run, in seconds.
using Block = std::vector<double>;

double typical(const std::vector<double>& values, Typical how);

/// The relative reduction of the step time: 0.25 is a quarter; negative: the step became longer.
struct Gain {
  double share = 0;
  Bounds interval;             ///< 95 %
  std::vector<double> ratios;  ///< step after / step before, by resample; empty: step costs
};

/// The gain from the runs of an interleaved comparison. The interval is a bootstrap that draws
/// runs, and steps within them, because steps of one run are more alike than those of two. `exact`:
/// the runs have no noise and the interval has no width. Deterministic for a seed.
Gain measured_gain(const std::vector<Block>& before, const std::vector<Block>& after, Typical how,
                   bool exact, std::uint64_t seed);
/// Half the width of the 95 % interval of the step cost of these runs, as a share of the step cost.
double half_width_of_cost(const std::vector<Block>& runs);
/// The combined gain of two successive changes. The two gains need different seeds, so that their
/// draws are independent.
Gain chained(const Gain& first, const Gain& second);
/// The Gain of no change: zero.
Gain no_gain();

/// Measures how far comparisons of equal settings differ, from runs with the same settings. It uses
/// the median of their differences, so that one disturbed run does not decide.
class Noise {
 public:
  /// `floor`: the smallest share that counts as a gain; less is not worth a switch.
  explicit Noise(double floor) : floor_(floor) {}
  /// Adds the typical steps of runs with the same settings.
  void add(const std::vector<double>& steps);
  /// Half the width of the 95 % interval that `pairs` runs a side would have, as a share of the step.
  double share(int pairs) const;

 private:
  double floor_;
  std::vector<double> differences_;  ///< of runs with equal settings, as shares of the step
};

}  // namespace headway::tune
