// SPDX-License-Identifier: MIT
#include "analyzer/replay/scenario.h"

namespace headway::analyzer {

void Scenario::finish() {
  std::sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) {
    return a.constraint != b.constraint ? a.constraint < b.constraint : a.lag < b.lag;
  });
  edits.erase(
      std::unique(edits.begin(), edits.end(),
                  [](const Edit& a, const Edit& b) { return a.constraint == b.constraint; }),
      edits.end());
}

namespace {

bool other_workers(const std::vector<Pool>& pools) {
  return std::ranges::any_of(pools, [](const Pool& pool) { return !pool.as_many; });
}

}  // namespace

Scenario Scenario::with(const Scenario& other) const {
  Scenario both = *this;
  for (std::size_t part = 0; part < other.factor.size(); ++part) {
    if (other.factor[part] != 1) both.scale(PartId::from(part), other.factor[part]);
  }
  both.edits.insert(both.edits.end(), other.edits.begin(), other.edits.end());
  both.finish();
  both.at_least = std::max(at_least, other.at_least);
  if (both.pools.empty() || (!other_workers(both.pools) && other_workers(other.pools))) {
    both.pools = other.pools;
    both.visits = other.visits;
    both.places = other.places;
  }
  both.work *= other.work;
  return both;
}

}  // namespace headway::analyzer
