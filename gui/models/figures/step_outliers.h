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
  std::optional<analyzer::TimeClass> grown;  ///< the class that grew most over its median
  DurationNs growth;                         ///< by how much
  std::string reason;  ///< "Decode took 80.0 ms instead of 12.0 ms: 91 % of the excess"
};

/// The spread of step durations.
struct StepSpread {
  std::vector<StepOutlier> outliers;  ///< largest excess first
  DurationNs limit;                   ///< longer steps are outliers; 0: too few steps to say
  DurationNs p50;
  DurationNs p90;
  DurationNs p99;
  DurationNs least;
  DurationNs most;
  std::int64_t steps = 0;  ///< number of steady steps
  std::string text;        ///< a sentence or two
};
/// An outlier is longer than the median by five robust standard deviations and by 10 %. With fewer
/// than five steady steps there are no outliers.
StepSpread spread_of(const StepChart& chart);
/// The outliers as a table; rows link to their steps.
LinkedTable outlier_table(const StepChart& chart, const StepSpread& spread);

/// Histogram of the durations of steady steps.
struct StepHistogram {
  DurationNs begin;
  DurationNs width;                 ///< of a bin
  std::vector<std::uint32_t> bins;  ///< steps in each bin; the last one also holds all longer steps
  std::uint32_t highest = 0;
};
StepHistogram histogram_of(const StepChart& chart, int bins);

}  // namespace headway::gui
