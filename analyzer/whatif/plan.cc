// SPDX-License-Identifier: MIT
#include "analyzer/whatif/plan.h"

#include <algorithm>
#include <utility>

#include "analyzer/whatif/best_order.h"

namespace headway::analyzer {
namespace {

/// What no finding advises is proposed when the recording shows this well that it can be made.
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

/// Steps of a training thread are as noisy as the machine: there, what no finding advises must be told from no gain.
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
    // What alone makes steps longer by its whole interval would gain beside another one by two formulas on top of each other.
    const bool harms = one.gain(predictor).high < 0;
    const bool likely = !one.fix->changes_training && one.proposal.certainty >= kLikely && !harms;
    // What gains nothing apart may gain much beside another one: a batch that is made on the training thread is better made
    // fast.
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
  // Without any finding they have to make up for one.
  const bool worth =
      any || (gains.size() > 1 && gains.back().share >= kWorthBoth && gains.back().low > 0);
  if (gains.size() < 2 || !worth) gains.clear();
  return gains;
}

}  // namespace headway::analyzer
