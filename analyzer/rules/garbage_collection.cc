// SPDX-License-Identifier: MIT
// garbage-collection: Python looks for unreachable objects while training waits.
//
// Symptom: some steps take longer by about the same time, at no regular distance, though nothing was to be done.
// Mechanism: the collector of Python visits all objects that the program keeps, whenever enough new ones were made;
//   a data set or a model of many objects makes that long, and all threads of Python wait for it.
// Formula: recoverable = time per step in collections: the PyTorch hook marks those of the oldest generation and
//   explicit ones; in other recordings calls of gc.collect, and ranges that say so. Fires from 5 % of the step cost.
// Falsified by: collections while the device has work queued (that time counts nothing here).
// Known false positives: a collection that frees memory which would otherwise be missing.
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
  // What was seen once may be rarer, or more frequent, than the recording is long.
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
