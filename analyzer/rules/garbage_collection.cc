// SPDX-License-Identifier: MIT
// garbage-collection: training waits while Python searches for unreachable objects.
//
// Symptom: some steps take longer by a similar time, at irregular intervals.
// Mechanism: Python's collector visits all live objects after enough allocations. With many
//   objects in a data set or model this takes long, and all Python threads wait.
// Formula: recoverable = time per step in collections. The PyTorch hook marks those of the oldest
//   generation and explicit ones; other recordings have calls of gc.collect and named ranges.
//   Fires from 5 % of the step cost.
// Falsified by: collections during queued device work (this time does not count).
// Known false positives: a collection that frees needed memory.
// Source: Python's gc module; trainers at scale collect at fixed steps, on all ranks at once.
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
  const BetweenWork work = between_work(context, BetweenCause::kGarbageCollection);
  if (!work.partition) return cannot_tell(rule, "No step is steady: record more steps.");
  const std::string time = of_step(context, work.per_step, context.step);
  if (ratio(work.per_step, context.step) < kFindingShare)
    return fine(rule, fmt::format("Garbage collection: {} on average.", time));
  Finding finding = found(rule, work.per_step, context);
  finding.claim = fmt::format("Garbage collection takes {} on average: {}.", time, frequency(work));
  // A single occasion does not show how often this happens.
  finding.confidence = work.occasions.size() > 1 ? 0.85 : 0.6;
  finding.evidence = occasions_of(context, work);
  finding.advice = {{"PyTorch",
                     "Exclude long-lived objects from the collector, and collect at chosen steps, "
                     "on all ranks at once.",
                     "gc.freeze() after setting up; gc.disable() with gc.collect() every n steps; "
                     "gc.set_threshold(100_000)",
                     ""},
                    {"TensorFlow/JAX", "Exclude long-lived objects from the collector.",
                     "gc.freeze(), gc.disable() with gc.collect() every n steps", ""}};
  return finding;
}

}  // namespace

extern const Rule kGarbageCollection = {
    "garbage-collection", "Garbage collection",
    "Garbage collection takes over 5 % of the step cost, averaged over all steps.", check};

}  // namespace headway::analyzer
