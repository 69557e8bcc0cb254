// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "analyzer/evidence/rule.h"

namespace headway::analyzer {

/// Idle time of a device in steady steps that falls into some intervals.
struct IdleOverlap {
  const DevicePartition* device = nullptr;  ///< null: no device has a steady step
  DurationNs per_step;                      ///< mean
  DurationNs step;                          ///< mean steady step of that device
  std::vector<Interval> pieces;             ///< the longest first
  double share() const { return ratio(per_step, step); }
};
/// For the device with the largest share. `intervals`: in any order; they may overlap.
IdleOverlap idle_during(const RuleContext& context, std::vector<Interval> intervals);

}  // namespace headway::analyzer
