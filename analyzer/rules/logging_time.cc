// SPDX-License-Identifier: MIT
// logging-time: training waits while figures, pictures or histograms are logged.
//
// Symptom: every n-th step is followed by a pause in a logger.
// Mechanism: the logger reads values back, formats, compresses and writes them on the training thread.
// Formula: recoverable = time per step in marked ranges ("log_metrics", "wandb", "tensorboard").
//   Inside steps, such a range counts only if at most half of the steps have one. Fires from 5 %
//   of the step cost.
// Falsified by: a logger that writes on a separate thread (its range is short).
// Known false positives: a range around a loop that mostly does other work.
// Source: the step cost includes all work for a step (docs/design/0051-step-cost.md).
#include <fmt/format.h>

#include "analyzer/evidence/between_steps.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

Finding check(const Rule& rule, const RuleContext& context) {
  if (context.steps.all.empty())
    return cannot_tell(rule, "The trace has no steps; name their ranges with --step-range.");
  const BetweenWork work = between_work(context, BetweenCause::kLogging);
  if (!work.partition) return cannot_tell(rule, "No step is steady: record more steps.");
  const std::string time = of_step(context, work.per_step, context.step);
  if (ratio(work.per_step, context.step) < kFindingShare)
    return fine(rule, fmt::format("Logging: {} on average.", time));
  Finding finding = found(rule, work.per_step, context);
  finding.claim = fmt::format("Logging takes {} on average: {}.", time, frequency(work));
  // A single occasion does not show how often this happens.
  finding.confidence = work.occasions.size() > 1 ? 0.9 : 0.6;
  finding.evidence = occasions_of(context, work);
  finding.advice = {
      {"PyTorch",
       "Log less often, keep values on the device until then, and write from another thread.",
       "the program's own interval; trainers: logging_steps, log_every_n_steps; "
       "SummaryWriter(flush_secs=…)",
       ""},
      {"TensorFlow/JAX", "Log less often.", "TensorBoard(update_freq=n, histogram_freq=0)", ""}};
  return finding;
}

}  // namespace

extern const Rule kLoggingTime = {
    "logging-time", "Logging between steps",
    "Logging takes over 5 % of the step cost, averaged over all steps.", check};

}  // namespace headway::analyzer
