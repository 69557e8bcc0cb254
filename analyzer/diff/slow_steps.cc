// SPDX-License-Identifier: MIT
#include "analyzer/diff/slow_steps.h"

#include "analyzer/evidence/outlier_limit.h"

namespace headway::analyzer {

SlowSteps slow_steps(const RunSamples& runs) {
  SlowSteps slow;
  std::size_t steps = 0;
  double excess = 0;
  bool regular = true;
  for (const std::vector<double>& run : runs) {
    const double limit = outlier_limit(run);
    const double typical = median(run);
    steps += run.size();
    std::int64_t last = -1;
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (run[i] <= limit) continue;
      ++slow.count;
      excess += run[i] - typical;
      const auto at = static_cast<std::int64_t>(i);
      if (last >= 0) {
        if (slow.every == 0) slow.every = at - last;
        regular = regular && slow.every == at - last;
      }
      last = at;
    }
  }
  if (slow.count == 0) return slow;
  // Two equal distances make a rule; a single one does not.
  if (!regular || slow.count < 3) slow.every = 0;
  slow.longer = {static_cast<std::int64_t>(excess / static_cast<double>(slow.count))};
  slow.per_step = {static_cast<std::int64_t>(excess / static_cast<double>(steps))};
  return slow;
}

}  // namespace headway::analyzer
