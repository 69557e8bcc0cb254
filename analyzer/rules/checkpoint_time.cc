// SPDX-License-Identifier: MIT
// checkpoint-time: training waits while checkpoints are written.
//
// Symptom: every n-th step is followed by a pause in which weights are copied, packed and written.
// Mechanism: the saving call returns only after the file is written; no training happens
//   meanwhile.
// Formula: recoverable = time per step in marked ranges ("save_checkpoint", or torch.save from the
//   PyTorch hook). Inside steps, other names count only if at most half of the steps have one.
//   Fires from 5 % of the step cost.
// Falsified by: a save on another thread (its range is short).
// Known false positives: recomputation of activations is also called checkpointing. It appears in
//   every step, and its names contain forward, backward or function.
// Source: asynchronous checkpoints of torch.distributed.checkpoint and Orbax.
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
  const BetweenWork work = between_work(context, BetweenCause::kCheckpoint);
  if (!work.partition) return cannot_tell(rule, "No step is steady: record more steps.");
  const std::string time = of_step(context, work.per_step, context.step);
  if (ratio(work.per_step, context.step) < kFindingShare)
    return fine(rule, fmt::format("Checkpoints: {} on average.", time));
  Finding finding = found(rule, work.per_step, context);
  finding.claim = fmt::format("Checkpoints take {} on average: {}.", time, frequency(work));
  // A single occasion does not show how often this happens.
  finding.confidence = work.occasions.size() > 1 ? 0.9 : 0.6;
  finding.evidence = occasions_of(context, work);
  finding.advice = {
      {"PyTorch",
       "Copy the state and write the checkpoint from another thread, or write checkpoints less "
       "often.",
       "torch.distributed.checkpoint.async_save(…)", ""},
      {"TensorFlow/JAX", "Write checkpoints asynchronously, or less often.",
       "orbax.checkpoint.AsyncCheckpointer, CheckpointManagerOptions(save_interval_steps=n)", ""}};
  return finding;
}

}  // namespace

extern const Rule kCheckpointTime = {
    "checkpoint-time", "Checkpoints between steps",
    "Writing checkpoints takes over 5 % of the step cost, averaged over all steps.", check};

}  // namespace headway::analyzer
