// SPDX-License-Identifier: MIT
// step-growth: steps get slower and slower.
//
// Symptom: the run slows down from hour to hour; no step stands out.
// Mechanism: data grows with each step: a list of all losses, a history logged in full, a searched
//   cache, sequences sorted by length, fragmented memory.
// Formula: the steady steps are cut into twelve parts, each with its median. They grow if the
//   Theil-Sen line through them gains 5 % of the first part, nine of eleven neighbours rise, no
//   single jump makes half of it, and the parts lie within an eighth of the growth from the line
//   (median). Recoverable = mean of the parts minus the first. Fires from 5 % of the step cost.
//   The cause is the class, and the name in it, with the largest increase from the first to the
//   last quarter of the steps.
// Falsified by: growth that ends (a cache that fills), or a single change in mid-run.
// Known false positives: batches sorted by length.
// Source: Theil 1950, Sen 1968: a median-based slope, robust against outliers.
#include <fmt/format.h>

#include "analyzer/evidence/step_trend.h"
#include "analyzer/evidence/support.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

std::vector<Evidence> evidence_of(const RuleContext& context, const StepTrend& trend) {
  std::vector<const DeviceStep*> steps;
  for (const DeviceStep& step : trend.partition->steps)
    if (counts(context.steps, step)) steps.push_back(&step);
  std::vector<Evidence> list;
  for (const std::size_t at : {steps.size() - 1, steps.size() / 2, std::size_t{0}}) {
    const Step& step = context.steps.all[steps[at]->step];
    list.push_back({steps[at]->interval, step.range.valid() ? EventRef::of(step.range) : EventRef{},
                    fmt::format("step {} takes {}", step.number,
                                format_duration(steps[at]->interval.length()))});
  }
  return list;
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (context.steps.all.empty())
    return cannot_tell(rule, "The trace has no steps; name their ranges with --step-range.");
  const StepTrend trend = find_step_trend(context);
  if (!trend.partition)
    return cannot_tell(rule, fmt::format("Fewer than {} steady steps show no trend.", kTrendSteps));
  if (!trend.grows()) return fine(rule, "Step time does not grow.");
  const std::string change =
      fmt::format("from {} to {}", format_duration(trend.early), format_duration(trend.late));
  if (ratio(trend.per_step, context.step) < kFindingShare)
    return fine(rule, fmt::format("Step time changes {} over the recording.", change));
  const Grown grown = what_grew(context, *trend.partition);
  Finding finding = found(rule, trend.per_step, context);
  finding.sub_cause = info(grown.time_class).id;
  finding.claim = fmt::format("Step time grows {} over the recording. '{}' grows, by {}{}.", change,
                              info(grown.time_class).label, format_duration(grown.by),
                              grown.name.empty() ? "" : fmt::format(", mostly '{}'", grown.name));
  finding.confidence = 0.8;
  finding.evidence = evidence_of(context, trend);
  constexpr const char* kText =
      "Find data that grows with each step: result lists, histories that are logged or plotted in "
      "full, caches that are searched.";
  const bool computes =
      grown.time_class == TimeClass::kComputeTensor || grown.time_class == TimeClass::kComputeOther;
  if (context.program.is_inference() && computes) {
    constexpr const char* kKeep =
        "If each step makes one more token, it computes all earlier ones again: keep their keys "
        "and values.";
    finding.advice = {
        {"headway-train", kKeep, "--kv-cache on", settings(context.trace, {"kv_cache"})},
        {"PyTorch", kKeep, "model.generate(use_cache=True), past_key_values", ""},
        {"TensorFlow/JAX", kKeep, "a cache of fixed length as a carried value", ""}};
    return finding;
  }
  finding.advice = {
      {"PyTorch", kText, "py-spy record -- python3 train.py, early and late in the run", ""},
      {"TensorFlow/JAX", kText, "jax.live_arrays()", ""}};
  return finding;
}

}  // namespace

extern const Rule kStepGrowth = {
    "step-growth", "Steps grow",
    "Step time grows over the recording, over 5 % of the step cost on average.", check};

}  // namespace headway::analyzer
