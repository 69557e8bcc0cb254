// SPDX-License-Identifier: MIT
// loader-restart: training waits while each epoch stops and restarts the loader workers.
//
// Symptom: the step pauses at the end of each epoch, and the next epoch's first batch is late.
// Mechanism: the loader stops its worker processes at the end of an epoch and starts new ones,
//   which import, open files and fill their queues again.
// Formula: recoverable = time per step in marked ranges (PyTorch hook: DataLoader.__iter__,
//   DataLoader shutdown; "worker start"). The wait for the first batch belongs to input-bound.
//   Fires from 5 % of the step cost.
// Falsified by: persistent workers (no such range takes long).
// Known false positives: a recording with shorter epochs than usual.
// Source: PyTorch's persistent_workers.
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
  const BetweenWork work = between_work(context, BetweenCause::kLoaderRestart);
  if (!work.partition) return cannot_tell(rule, "No step is steady: record more steps.");
  const std::string time = of_step(context, work.per_step, context.step);
  if (ratio(work.per_step, context.step) < kFindingShare)
    return fine(rule, fmt::format("Loader restarts: {} on average.", time));
  Finding finding = found(rule, work.per_step, context);
  finding.claim = fmt::format("Restarting the loader's workers takes {} on average: {}.", time,
                              frequency(work));
  // A single occasion does not show how often this happens.
  finding.confidence = work.occasions.size() > 1 ? 0.9 : 0.6;
  finding.evidence = occasions_of(context, work);
  finding.advice = {
      {"headway-train", "Keep workers alive across epochs.", "--worker-reuse on",
       settings(context.trace, {"worker_reuse"})},
      {"PyTorch", "Keep workers alive across epochs.", "DataLoader(persistent_workers=True)",
       settings(context.trace, {"DataLoader"})},
      {"TensorFlow/JAX", "Use one iterator for all epochs.", "dataset.repeat()", ""}};
  return finding;
}

}  // namespace

extern const Rule kLoaderRestart = {
    "loader-restart", "Loader restarts",
    "Restarting loader workers takes over 5 % of the step cost, averaged over all steps.", check};

}  // namespace headway::analyzer
