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
/// Of the step, that two fixes save together where nothing is found.
constexpr double kWorthBoth = 0.05;

bool is_found(const Finding& finding) {
  return finding.status == Status::kFound;
}

bool is_advised(const std::vector<Finding>& findings, const Fix& fix) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    return is_found(finding) &&
           std::ranges::find(finding.fixes, fix.id, &PredictedGain::fix) != finding.fixes.end();
  });
}

/// That the fixes save something is sure, also where steps scatter.
bool is_sure(const Predictor& predictor, const PredictedGain& gain) {
  const bool on_device = predictor.trace().device_ops.size() > 0;
  return gain.share >= kWorthBoth && gain.low > 0 && (on_device || gain.beyond_scatter > 0);
}

}  // namespace

std::vector<PredictedGain> plan(const Predictor& predictor, const std::vector<ReplayedFix>& all,
                                const std::vector<Finding>& findings) {
  const bool any = std::ranges::any_of(findings, is_found);
  std::vector<ProposedFix> open;
  for (const ReplayedFix& one : all) {
    const bool may = is_advised(findings, *one.fix) ||
                     (!one.fix->changes_training && one.proposal.certainty >= kLikely);
    if (one.applies() && one.is_real() && may) open.push_back({one.fix, &one.proposal});
  }
  std::vector<PredictedGain> gains;
  for (const OrderedFix& one : best_order(predictor, std::move(open), kWorthAdding)) {
    const auto its = std::ranges::find(all, one.fix, &ReplayedFix::fix);
    gains.push_back(its->gain(predictor, one.together));
  }
  if (gains.size() < 2 || (!any && !is_sure(predictor, gains.back()))) gains.clear();
  return gains;
}

}  // namespace headway::analyzer
