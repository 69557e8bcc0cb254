// SPDX-License-Identifier: MIT
#include "analyzer/stats/summary.h"

#include <algorithm>

namespace headway::analyzer {

std::int64_t DurationSummary::minimum() const {
  return durations_.empty() ? 0 : *std::min_element(durations_.begin(), durations_.end());
}

std::int64_t DurationSummary::maximum() const {
  return durations_.empty() ? 0 : *std::max_element(durations_.begin(), durations_.end());
}

std::int64_t DurationSummary::median() const {
  if (durations_.empty()) return 0;
  std::vector<std::int64_t> copy = durations_;
  auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  return *middle;
}

}  // namespace headway::analyzer
