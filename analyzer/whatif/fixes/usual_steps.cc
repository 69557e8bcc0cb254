// SPDX-License-Identifier: MIT
// Outlier steps become like the others: each kind of work takes at most its time in the median
// step. Steps that grow stay like the first ones.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analyzer/evidence/outlier_limit.h"
#include "analyzer/evidence/step_trend.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/step_parts.h"

namespace headway::analyzer {
namespace {

constexpr std::size_t kLeastSteps = 10;  ///< as the rule

/// The first quarter of the steps shows their times before they grew.
Proposal propose_first(const Predictor& predictor) {
  const std::vector<MarkedStep>& steps = predictor.steps().steps;
  const RuleContext context = rule_context(predictor);
  const StepTrend trend = find_step_trend(context);
  if (!trend.grows()) return not_here("step time does not grow");
  const TimeClass grown = what_grew(context, *trend.partition).time_class;
  // Even the first steps recompute all earlier tokens, so they are not the right comparison.
  if (context.program.is_inference() &&
      (grown == TimeClass::kComputeTensor || grown == TimeClass::kComputeOther))
    return not_here("compute of an inference grows: see keep-keys-and-values");
  const std::size_t early = std::max<std::size_t>(1, steps.size() / kTrendParts);
  std::vector<const MarkedStep*> first;
  for (std::size_t i = 0; i < early; ++i) first.push_back(&steps[i]);
  const StepParts by_part(predictor);
  const StepParts::Times often = by_part.usual(first);
  Editor editor(predictor);
  for (std::size_t i = early; i < steps.size(); ++i) by_part.limit_to(steps[i], often, editor);
  Proposal proposal{true,
                    fmt::format("all {} steps take the time of the first {} for each kind of work",
                                steps.size(), early),
                    editor.take()};
  proposal.is_ceiling = true;  // what the first steps take was measured
  return proposal;
}

Proposal propose(const Predictor& predictor) {
  const std::vector<MarkedStep>& steps = predictor.steps().steps;
  if (steps.size() < kLeastSteps)
    return not_here(
        fmt::format("{} steady steps are too few to define a usual step", steps.size()));
  std::vector<double> lengths;
  for (const MarkedStep& step : steps)
    lengths.push_back(static_cast<double>(predictor.recorded(step).length().ns));
  const double limit = outlier_limit(lengths);
  std::vector<const MarkedStep*> usual;
  std::vector<const MarkedStep*> outliers;
  for (std::size_t i = 0; i < steps.size(); ++i)
    (lengths[i] > limit ? outliers : usual).push_back(&steps[i]);
  if (outliers.empty()) return not_here("no step is far slower than the others");
  const StepParts by_part(predictor);
  const StepParts::Times often = by_part.usual(usual);
  Editor editor(predictor);
  for (const MarkedStep* step : outliers) by_part.limit_to(*step, often, editor);
  Proposal proposal{true,
                    fmt::format("{} of {} steps take a usual step's time for each kind of work",
                                outliers.size(), steps.size()),
                    editor.take()};
  proposal.is_ceiling = true;  // what the other steps take was measured
  return proposal;
}

}  // namespace

const Fix kUsualSteps{
    "usual-steps",
    "Remove the causes of slow single steps",
    "step-outlier",
    FixKind::kCeiling,
    0.1,
    "",
    "In steps beyond median + max(5 MAD, 10 %), each op, call and kind of host work takes its "
    "median total over the other steps. Loader work counts per batch, since workers make more "
    "batches during a longer step. The gain refers to the mean step.",
    "whether this work can be dropped, sped up or moved off the step",
    propose};

const Fix kStepsAsAtFirst{"steps-as-at-first",
                          "Stop step-to-step growth",
                          "step-growth",
                          FixKind::kCeiling,
                          0.1,
                          "",
                          "In all steps, each op, call and kind of host work takes at most its "
                          "median total over the first twelfth of the steps.",
                          "whether the program needs the growing data",
                          propose_first};

}  // namespace headway::analyzer
