// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/evidence/rule.h"
#include "analyzer/model/between_cause.h"

namespace headway::analyzer {

/// What ran in steps that take far longer than the others.
struct OutlierWork {
  TimeClass grown = TimeClass::kUnknown;  ///< the class that takes more time in them
  BetweenCause between = BetweenCause::kOther;
  std::string name;  ///< "redraw (train.py:8)" or a range's name; empty: nothing names it
  double share = 0;  ///< share of the grown class's time in these steps that `name` takes
  std::string from;  ///< the caller of `name`; empty if unknown or if `name` is a range
  bool profiler =
      false;  ///< the program's own profiler runs in most of them, but in few of the others
};
OutlierWork outlier_work(const RuleContext& context, const DevicePartition& partition,
                         std::span<const DeviceStep* const> outliers,
                         std::span<const DeviceStep* const> usual, TimeClass grown);

/// " 97 % of that time in 'redraw (train.py:8)', from 'main (train.py:30)'."; empty where nothing names it.
std::string outlier_text(const OutlierWork& work);

/// Only advice that fits the recording: none on collectives without a device, none on more
/// prefetching without workers.
std::vector<Advice> advice_for_outliers(const RuleContext& context, const OutlierWork& work);

}  // namespace headway::analyzer
