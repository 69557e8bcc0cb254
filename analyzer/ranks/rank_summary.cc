// SPDX-License-Identifier: MIT
#include "analyzer/ranks/rank_summary.h"

#include <algorithm>

namespace headway::analyzer {

void average_steps(RankDevice& device) {
  ClassTimes sum;
  std::int64_t steady = 0;
  for (const RankStep& step : device.steps) {
    if (!step.steady) continue;
    sum += step.times;
    ++steady;
  }
  device.per_steady_step = mean_of(sum, steady);
}

}  // namespace headway::analyzer
