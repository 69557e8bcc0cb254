// SPDX-License-Identifier: MIT
#include "analyzer/whatif/predict_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "analyzer/whatif/fix.h"

namespace headway::analyzer {
namespace {

/// A difference of less is none.
constexpr double kSameShare = 0.0005;

bool answers(const Fix& fix, const Finding& finding) {
  return finding.status == Status::kFound && answers(fix, finding.rule);
}

PredictedGain as_shares(const Fix& fix, const Prediction& prediction, DurationNs step) {
  const auto whole = static_cast<double>(std::max<std::int64_t>(1, step.ns));
  return {fix.id,
          step,
          prediction.step,
          static_cast<double>(prediction.gain.ns) / whole,
          prediction.gain_ns.low / whole,
          prediction.gain_ns.high / whole};
}

void keep_better(std::optional<PredictedGain>& best, const PredictedGain& gain) {
  if (!best || best->share < gain.share) best = gain;
}

/// What can be done is worth more than what could be at best: a ceiling stands alone only where there is nothing else.
void choose(Finding& finding) {
  if (!finding.predicted) std::swap(finding.predicted, finding.at_most);
  if (finding.predicted) finding.unpredicted.clear();
  if (finding.at_most && finding.at_most->share < finding.predicted->share + kSameShare)
    finding.at_most.reset();
}

}  // namespace

std::string_view why_unpredictable(std::string_view rule) {
  struct Reason {
    std::string_view rule;
    std::string_view why;
  };
  static constexpr auto kReasons = std::to_array<Reason>({
      {"long-startup",
       "it is paid once a run, before the first step, and predictions are about steps; the whole "
       "of "
       "that time is what could be gained a run"},
      {"graph-capture", "nothing of a step was recorded"},
      {"unrecorded-device-work", "it is no loss of this program, but a gap in the recording"},
  });
  for (const Reason& reason : kReasons)
    if (reason.rule == rule) return reason.why;
  return {};
}

void predict_findings(const trace::Trace& trace, Analysis& analysis, MachineFacts machine) {
  predict_findings(ReplayedRun{trace, analysis}, analysis, std::move(machine));
}

void predict_findings(const ReplayedRun& run, Analysis& analysis, MachineFacts machine) {
  for (Finding& finding : analysis.findings)
    if (finding.status == Status::kFound) finding.unpredicted = why_unpredictable(finding.rule);
  std::vector<const Fix*> wanted;
  for (const Fix* fix : all_fixes())
    if (std::ranges::any_of(analysis.findings, [&](const Finding& f) { return answers(*fix, f); }))
      wanted.push_back(fix);
  if (wanted.empty()) return;
  const Predictor predictor(run.trace, run.analysis, std::move(machine));
  for (const Fix* fix : wanted) {
    const Proposal proposal = predictor.missing().empty()
                                  ? fix->propose(predictor)
                                  : Proposal{false, predictor.missing(), {}};
    std::optional<PredictedGain> gain;
    if (proposal.applies)
      gain = as_shares(*fix, predictor.predict(proposal.scenario, fix->model_error),
                       predictor.baseline().recorded);
    for (Finding& finding : analysis.findings) {
      if (!answers(*fix, finding)) continue;
      if (gain)
        keep_better(fix->kind == FixKind::kCeiling ? finding.at_most : finding.predicted, *gain);
      else if (finding.unpredicted.empty())
        finding.unpredicted = predictor.missing().empty()
                                  ? fmt::format("{} does not apply: {}", fix->id, proposal.text)
                                  : proposal.text;
    }
    if (!gain) continue;
    analysis.assumed = predictor.assumptions();
    analysis.unexplained = predictor.baseline().residual;
  }
  for (Finding& finding : analysis.findings) choose(finding);
}

}  // namespace headway::analyzer
