// SPDX-License-Identifier: MIT
#include "analyzer/replay/scenario.h"

#include <cstddef>
#include <utility>

namespace headway::analyzer {

namespace {

bool before(const Edit& a, const Edit& b) {
  return a.constraint != b.constraint ? a.constraint < b.constraint : a.lag < b.lag;
}

/// Fixes go through the events in order, so edits are a few sorted runs: those are merged.
void sort_runs(std::vector<Edit>& edits) {
  std::vector<std::ptrdiff_t> ends;
  for (auto at = edits.begin(); at != edits.end();) {
    at = std::is_sorted_until(at, edits.end(), before);
    ends.push_back(at - edits.begin());
  }
  while (ends.size() > 1) {
    std::vector<std::ptrdiff_t> merged;
    std::ptrdiff_t begin = 0;
    for (std::size_t i = 0; i < ends.size(); i += 2) {
      const std::ptrdiff_t end = ends[std::min(i + 1, ends.size() - 1)];
      std::inplace_merge(edits.begin() + begin, edits.begin() + ends[i], edits.begin() + end,
                         before);
      merged.push_back(end);
      begin = end;
    }
    ends = std::move(merged);
  }
}

}  // namespace

void Scenario::finish() {
  sort_runs(edits);
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
