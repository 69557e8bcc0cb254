// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Whether steps become steadily longer over a recording. Only medians of parts count, so outliers
/// and the first steps do not make a trend.
struct StepTrend {
  const DevicePartition* partition = nullptr;  ///< with the largest growth; null: too few steps
  DurationNs early;                            ///< median step of the first twelfth
  DurationNs late;                             ///< median step of the last twelfth
  DurationNs per_step;  ///< excess of the mean step over `early`; 0: no trend
  bool grows() const { return per_step.ns > 0; }
};
inline constexpr std::size_t kTrendParts = 12;
inline constexpr std::size_t kTrendSteps = 3 * kTrendParts;  ///< with fewer there is no trend
StepTrend find_step_trend(const RuleContext& context);

/// The time class that grew most from the first to the last quarter of the steps, and the name in
/// it that grew most.
struct Grown {
  TimeClass time_class = TimeClass::kUnknown;
  DurationNs by;          ///< from the median step of the first quarter to that of the last
  std::string_view name;  ///< of a range, call or device op; empty: several
  double share = 0;       ///< share of `by` that belongs to `name`
};
Grown what_grew(const RuleContext& context, const DevicePartition& partition);

/// Kernels of each counted step of a partition, in order of time. Steps whose number of kernels is
/// not the most frequent one are left out.
std::vector<std::vector<trace::DeviceOpId>> kernels_of_steps(const RuleContext& context,
                                                             const DevicePartition& partition);

/// The lengths of a partition's counted steps, by time, in ns.
std::vector<double> lengths_of(const RuleContext& context, const DevicePartition& partition);

}  // namespace headway::analyzer
