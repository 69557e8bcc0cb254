// SPDX-License-Identifier: MIT
#include "analyzer/whatif/predict_findings.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analyzer/whatif/fix.h"

namespace headway::analyzer {
namespace {

bool answers(const Fix& fix, const Finding& finding) {
  return finding.status == Status::kFound && answers(fix, finding.rule);
}

PredictedGain as_shares(const Fix& fix, const Prediction& prediction, DurationNs step) {
  const auto whole = static_cast<double>(std::max<std::int64_t>(1, step.ns));
  return {fix.id, prediction.step, static_cast<double>(prediction.gain.ns) / whole,
          prediction.gain_ns.low / whole, prediction.gain_ns.high / whole};
}

}  // namespace

void predict_findings(const trace::Trace& trace, Analysis& analysis, MachineFacts machine) {
  std::vector<const Fix*> wanted;
  for (const Fix* fix : all_fixes())
    if (std::ranges::any_of(analysis.findings, [&](const Finding& f) { return answers(*fix, f); }))
      wanted.push_back(fix);
  if (wanted.empty()) return;
  const Predictor predictor(trace, analysis, std::move(machine));
  if (!predictor.missing().empty()) return;
  for (const Fix* fix : wanted) {
    const Proposal proposal = fix->propose(predictor);
    if (!proposal.applies) continue;
    const PredictedGain gain =
        as_shares(*fix, predictor.predict(proposal.scenario, fix->model_error),
                  predictor.baseline().recorded);
    for (Finding& finding : analysis.findings)
      if (answers(*fix, finding) && (!finding.predicted || finding.predicted->share < gain.share))
        finding.predicted = gain;
    analysis.assumed = predictor.assumptions();
  }
}

}  // namespace headway::analyzer
