// SPDX-License-Identifier: MIT
#include "analyzer/whatif/same_time.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headway::analyzer {
namespace {

/// Gains that differ by less than these shares of the step and of the smaller cause count as equal.
constexpr double kSameOfStep = 0.005;
constexpr double kSameOfCause = 0.1;
/// A cause whose best fix gains at least this share of what the group's best fix gains may stand
/// for it.
constexpr double kNearlyAsGood = 0.95;

}  // namespace

std::vector<CauseGroup> group_by_time(const Predictor& predictor,
                                      const std::vector<Cause>& causes) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<Scenario> both;
  for (std::size_t a = 0; a < causes.size(); ++a) {
    for (std::size_t b = a + 1; b < causes.size(); ++b) {
      pairs.emplace_back(a, b);
      both.push_back(causes[a].without.with(causes[b].without));
    }
  }
  const std::vector<Prediction> predictions = predictor.predict(both);
  std::vector<std::vector<bool>> same(causes.size(), std::vector<bool>(causes.size()));
  const auto step = static_cast<double>(predictor.baseline().recorded.ns);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto [a, b] = pairs[i];
    const auto larger = static_cast<double>(std::max(causes[a].gain, causes[b].gain).ns);
    const auto smaller = static_cast<double>(std::min(causes[a].gain, causes[b].gain).ns);
    const double more = static_cast<double>(predictions[i].gain.ns) - larger;
    const bool one_fix = !causes[a].fix.empty() && causes[a].fix == causes[b].fix;
    const bool one_time = one_fix || more <= std::max(kSameOfStep * step, kSameOfCause * smaller);
    same[a][b] = one_time;
    same[b][a] = one_time;
  }
  std::vector<std::size_t> order(causes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return causes[a].worth > causes[b].worth; });
  std::vector<CauseGroup> groups;
  for (const std::size_t one : order) {
    // Compare only with the lead of each group: two causes that a third one covers may be
    // independent of each other.
    const auto group =
        std::ranges::find_if(groups, [&](const CauseGroup& its) { return same[its.front()][one]; });
    if (group != groups.end())
      group->push_back(one);
    else
      groups.push_back({one});
  }
  for (CauseGroup& group : groups) {
    double most = 0;
    for (const std::size_t one : group) most = std::max(most, causes[one].best);
    const auto stands = [&](std::size_t one) { return causes[one].best >= kNearlyAsGood * most; };
    auto lead = std::ranges::find_if(group, stands);
    for (auto at = lead; at != group.end(); ++at)
      if (stands(*at) && causes[*at].generality < causes[*lead].generality) lead = at;
    std::rotate(group.begin(), lead, lead + 1);
  }
  return groups;
}

}  // namespace headway::analyzer
