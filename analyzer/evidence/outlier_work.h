// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/evidence/rule.h"
#include "analyzer/model/between_cause.h"

namespace headway::analyzer {

/// What ran in steps that take far more than the others.
struct OutlierWork {
  TimeClass grown = TimeClass::kUnknown;  ///< the class that takes more in them
  BetweenCause between = BetweenCause::kOther;
  std::string name;  ///< "redraw (train.py:8)" or a range's name; empty: nothing names it
  double share = 0;  ///< of the grown class in these steps that it takes
  std::string from;  ///< who calls it; empty: unknown, or a range
  bool profiler =
      false;  ///< the program's own profiler runs in most of them, and not in the others
};
OutlierWork outlier_work(const RuleContext& context, const DevicePartition& partition,
                         std::span<const DeviceStep* const> outliers,
                         std::span<const DeviceStep* const> usual, TimeClass grown);

/// " 97 % of that time in 'redraw (train.py:8)', from 'main (train.py:30)'."; empty where nothing names it.
std::string outlier_text(const OutlierWork& work);

/// Only what this recording can contain: no collectives in a run without any, no prefetching without workers.
std::vector<Advice> advice_for_outliers(const RuleContext& context, const OutlierWork& work);

}  // namespace headway::analyzer
