// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/models/figures/step_chart.h"
#include "gui/models/tables/linked_table.h"

namespace headway::gui {

/// A steady step that is much slower than the others, and why.
struct StepOutlier {
  std::uint32_t bar = 0;                     ///< index into StepChart::bars
  DurationNs excess;                         ///< over the median step
  std::optional<analyzer::TimeClass> grown;  ///< the class that grew most against its median
  DurationNs growth;                         ///< by how much
  std::string reason;  ///< "Decode took 80.0 ms instead of 12.0 ms: 91 % of the excess"
};

/// How steady the steps are.
struct StepSpread {
  std::vector<StepOutlier> outliers;  ///< by falling excess
  DurationNs limit;                   ///< a step beyond it is an outlier; 0: too few to say
  DurationNs p50;
  DurationNs p90;
  DurationNs p99;
  DurationNs least;
  DurationNs most;
  std::int64_t steps = 0;  ///< steady ones
  std::string text;        ///< a sentence or two
};
/// An outlier is longer than the median by five robust standard deviations and by 10 %; of fewer
/// than five steady steps none can be told.
StepSpread spread_of(const StepChart& chart);
/// The outliers as a table; rows lead to their steps.
LinkedTable outlier_table(const StepChart& chart, const StepSpread& spread);

/// Steady steps by length.
struct StepHistogram {
  DurationNs begin;
  DurationNs width;                 ///< of a bin
  std::vector<std::uint32_t> bins;  ///< steps in each; the last holds everything beyond, too
  std::uint32_t highest = 0;
};
StepHistogram histogram_of(const StepChart& chart, int bins);

}  // namespace headway::gui
