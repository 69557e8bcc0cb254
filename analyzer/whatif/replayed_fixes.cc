// SPDX-License-Identifier: MIT
#include "analyzer/whatif/replayed_fixes.h"

#include <algorithm>

#include "common/parallel.h"

namespace headway::analyzer {

Scenario ceiling_of(const Predictor& predictor, const Scenario& scenario) {
  Scenario ceiling = scenario;
  ceiling.at_least = {};
  // A pool of other workers may do tasks later than the recorded one, so a ceiling has no pools.
  ceiling.pools.clear();
  for (Edit& edit : ceiling.edits) {
    if (edit.lag == Edit::kRemoved) continue;
    const DurationNs recorded = predictor.program().constraint(edit.constraint).lag;
    if (edit.lag > recorded.ns) edit.lag = recorded.ns;
    if (edit.modelled && edit.lag < recorded.ns) edit.lag = 0;
  }
  for (double& factor : ceiling.factor) factor = factor < 1 ? 0 : 1;
  return ceiling;
}

PredictedGain ReplayedFix::gain(const Predictor& predictor) const {
  return gain(predictor, prediction);
}

GainSurety surety_of(const Predictor& predictor, const Prediction& of) {
  // Only the scatter of the steps can hide a gain, not the difference between two runs, which
  // exists with or without a change. A rare pause does not hide a gain of every step. Device steps
  // scatter little.
  const bool on_device = predictor.trace().device_ops.size() > 0;
  if (!on_device && of.beyond_scatter_ns <= 0) return GainSurety::kOpen;
  return of.gain_ns.low > 0 ? GainSurety::kSure : GainSurety::kProbable;
}

PredictedGain ReplayedFix::gain(const Predictor& predictor, const Prediction& of) const {
  const DurationNs step = predictor.baseline().recorded;
  const auto whole = static_cast<double>(std::max<std::int64_t>(1, step.ns));
  return {fix->id,
          step,
          of.step,
          static_cast<double>(of.gain.ns) / whole,
          of.gain_ns.low / whole,
          of.gain_ns.high / whole,
          of.beyond_scatter_ns / whole,
          std::string(setting_of(*fix, proposal)),
          is_real()                                   ? proposal.certainty
          : proposal.is_ceiling || proposal.one_place ? kMeasuredCounts
                                                      : kCeilingCounts,
          of.expected_ns / whole,
          surety_of(predictor, of)};
}

namespace {

/// True for a fix of host time that does not grow with the samples: a pause that other steps of the run
/// do without, and the time that one rank needs beyond its peers, whose steps have as many samples.
bool is_not_per_sample(const ReplayedFix& one) {
  return one.fix->id == "even-ranks" || (one.fix->id == "no-pauses" && one.proposal.is_ceiling);
}

/// A fix that changes the training also amortises unexplained time, but no recording shows whether
/// that time occurs per step or per sample. So this part of its gain counts only like a ceiling.
void doubt_what_nothing_explains(const Predictor& predictor, std::vector<ReplayedFix>& replayed) {
  Scenario per_step;
  Scenario open;  // with what may be per sample
  bool any = false;
  for (const ReplayedFix& one : replayed) {
    if (!one.applies()) continue;
    const bool unexplained = one.fix->id == "free-host" || one.fix->id == "no-pauses";
    if (is_not_per_sample(one))
      per_step = per_step.with(one.proposal.scenario);
    else if (unexplained)
      open = open.with(one.proposal.scenario);
    any |= unexplained;
  }
  if (!any) return;
  open = per_step.with(open);
  const DurationNs without_per_step = predictor.predict(per_step).gain;
  const DurationNs without_any = predictor.predict(open).gain;
  for (ReplayedFix& one : replayed) {
    if (!one.applies() || !one.fix->changes_training || one.prediction.gain.ns <= 0) continue;
    const Scenario& its = one.proposal.scenario;
    const DurationNs beyond_per_step =
        predictor.predict(its.with(per_step)).gain - without_per_step;
    const DurationNs beyond_any = predictor.predict(its.with(open)).gain - without_any;
    const double doubtful =
        std::clamp(ratio(beyond_per_step - beyond_any, one.prediction.gain), 0.0, 1.0);
    one.proposal.certainty *= 1 - doubtful * (1 - kCeilingCounts);
  }
}

}  // namespace

std::vector<ReplayedFix> replay_fixes(const Predictor& predictor) {
  const auto all = all_fixes();
  std::vector<ReplayedFix> replayed(all.size());
  const Proposer proposer(predictor);
  run_parallel(all.size(), [&](std::size_t i) {
    ReplayedFix& one = replayed[i];
    one.fix = all[i];
    one.proposal = proposer.of(*all[i]);
    if (!one.applies()) return;
    one.prediction =
        predictor.predict(one.proposal.scenario, one.fix->model_error, one.proposal.otherwise);
    one.ceiling = !one.is_real() || one.proposal.is_ceiling
                      ? one.proposal.scenario
                      : ceiling_of(predictor, one.proposal.scenario);
  });
  doubt_what_nothing_explains(predictor, replayed);
  return replayed;
}

int fixes_known(std::string_view rule) {
  return static_cast<int>(
      std::ranges::count_if(all_fixes(), [&](const Fix* fix) { return answers(*fix, rule); }));
}

}  // namespace headway::analyzer
