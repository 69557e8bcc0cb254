// SPDX-License-Identifier: MIT
#include "analyzer/whatif/plan.h"

#include <algorithm>
#include <utility>

#include "analyzer/whatif/best_order.h"

namespace headway::analyzer {
namespace {

/// Least certainty of a fix that no finding advises.
constexpr double kLikely = 0.5;
/// A plan is short: a further fix has to gain this share of the step.
constexpr double kWorthAdding = 0.02;
bool is_found(const Finding& finding) {
  return finding.status == Status::kFound;
}

bool is_advised(const std::vector<Finding>& findings, const Fix& fix) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    return is_found(finding) &&
           std::ranges::find(finding.fixes, fix.id, &PredictedGain::fix) != finding.fixes.end();
  });
}

/// True if the gain exceeds the noise. Required of fixes that no finding advises, because steps of
/// a training thread are as noisy as the machine.
bool stands_out(const Predictor& predictor, const ReplayedFix& one) {
  return one.gain(predictor).surety != GainSurety::kOpen;
}

}  // namespace

std::vector<PredictedGain> plan(const Predictor& predictor, const std::vector<ReplayedFix>& all,
                                const std::vector<Finding>& findings) {
  const bool any = std::ranges::any_of(findings, is_found);
  std::vector<ProposedFix> open;
  for (const ReplayedFix& one : all) {
    if (!one.applies() || !one.is_real()) continue;
    // If the whole interval of a fix is a loss, a gain beside another fix would only be the sum of
    // the errors of two formulas.
    const bool harms = one.gain(predictor).high < 0;
    const bool likely = !one.fix->changes_training && one.proposal.certainty >= kLikely && !harms;
    // A fix without gain alone may gain much beside another one: for example, if batches are made
    // on the training thread, making them faster counts.
    if (is_advised(findings, *one.fix) || (likely && stands_out(predictor, one)))
      open.push_back({one.fix, &one.proposal});
    else if (likely)
      open.push_back({one.fix, &one.proposal, predictor.noise()});
  }
  std::vector<PredictedGain> gains;
  for (const OrderedFix& one : best_order(predictor, std::move(open), kWorthAdding)) {
    const auto its = std::ranges::find(all, one.fix, &ReplayedFix::fix);
    gains.push_back(its->gain(predictor, one.together));
  }
  // Without any finding, the plan must gain as much as a finding requires.
  const bool worth =
      any || (gains.size() > 1 && gains.back().share >= kWorthBoth && gains.back().low > 0);
  if (gains.size() < 2 || !worth) gains.clear();
  return gains;
}

}  // namespace headway::analyzer
