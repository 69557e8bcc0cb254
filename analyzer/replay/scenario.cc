// SPDX-License-Identifier: MIT
#include "analyzer/replay/scenario.h"

#include <cmath>
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

void Scenario::shorten_moved(const Scenario& by) {
  for (Moved& piece : moved) {
    if (piece.part.value >= by.factor.size() || by.factor[piece.part.value] == 1) continue;
    const auto edit = std::ranges::lower_bound(edits, piece.constraint, {}, &Edit::constraint);
    if (edit == edits.end() || edit->constraint != piece.constraint || edit->lag == Edit::kRemoved)
      continue;
    const auto left = std::llround(by.factor[piece.part.value] * static_cast<double>(piece.lag));
    edit->lag = std::max<std::int64_t>(0, edit->lag - (piece.lag - left));
    piece.lag = left;
  }
}

Scenario Scenario::with(const Scenario& other) const {
  Scenario both = *this;
  both.shorten_moved(other);
  Scenario its = other.moved.empty() ? Scenario{} : other;
  its.shorten_moved(*this);
  for (std::size_t part = 0; part < other.factor.size(); ++part) {
    if (other.factor[part] != 1) both.scale(PartId::from(part), other.factor[part]);
  }
  const std::vector<Edit>& its_edits = its.moved.empty() ? other.edits : its.edits;
  both.edits.insert(both.edits.end(), its_edits.begin(), its_edits.end());
  both.moved.insert(both.moved.end(), its.moved.begin(), its.moved.end());
  both.finish();
  both.at_least = std::max(at_least, other.at_least);
  if (both.pools.empty() || (!other_workers(both.pools) && other_workers(other.pools))) {
    both.pools = other.pools;
    both.visits = other.visits;
    both.places = other.places;
  }
  both.work *= other.work;
  both.on_schedule &= other.on_schedule;
  return both;
}

}  // namespace headway::analyzer
