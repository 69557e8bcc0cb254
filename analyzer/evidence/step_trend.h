// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Whether steps take longer and longer over a recording. Medians of stretches alone count, so neither
/// outliers nor the first steps make a trend.
struct StepTrend {
  const DevicePartition* partition = nullptr;  ///< with the largest growth; null: too few steps
  DurationNs early;                            ///< median step of the first twelfth
  DurationNs late;                             ///< of the last one
  DurationNs per_step;  ///< what the mean step takes beyond `early`; 0: no trend
  bool grows() const { return per_step.ns > 0; }
};
inline constexpr std::size_t kTrendParts = 12;
inline constexpr std::size_t kTrendSteps = 3 * kTrendParts;  ///< fewer tell no trend
StepTrend find_step_trend(const RuleContext& context);

/// The class that grew most from the first to the last quarter of the steps, and the name in it that did.
struct Grown {
  TimeClass time_class = TimeClass::kUnknown;
  DurationNs by;          ///< from the median step of the first quarter to that of the last
  std::string_view name;  ///< of a range, call or device op; empty: several
  double share = 0;       ///< of `by` that is the name's
};
Grown what_grew(const RuleContext& context, const DevicePartition& partition);

/// Kernels of each counted step of a partition, in order of time; steps with another number than most are left out.
std::vector<std::vector<trace::DeviceOpId>> kernels_of_steps(const RuleContext& context,
                                                             const DevicePartition& partition);

/// The lengths of a partition's counted steps, by time, in ns.
std::vector<double> lengths_of(const RuleContext& context, const DevicePartition& partition);

}  // namespace headway::analyzer
