// SPDX-License-Identifier: MIT
// evaluation-time: the program evaluates so often that training waits for it.
//
// Symptom: every n-th step is followed by a pass without gradients.
// Mechanism: evaluation runs in the training loop; all devices take part or wait.
// Formula: recoverable = time per step in marked ranges ("evaluation", "validate", or model.eval()
//   to model.train() from the PyTorch hook), with all launched and awaited work. Inside steps,
//   such a range counts only if at most half of the steps have one. Fires from 5 % of the step
//   cost. Programs with environments (gymnasium) collect experience in the same way; the claim
//   then says so.
// Falsified by: a pass of this name in every step (e.g. a teacher).
// Known false positives: a recording with more evaluations than the long-run average.
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
  const BetweenWork work = between_work(context, BetweenCause::kEvaluation);
  if (!work.partition) return cannot_tell(rule, "No step is steady: record more steps.");
  const std::string time = of_step(context, work.per_step, context.step);
  if (ratio(work.per_step, context.step) < kFindingShare)
    return fine(rule, fmt::format("Evaluation: {} on average.", time));
  Finding finding = found(rule, work.per_step, context);
  const std::string_view environments = context.trace.setting("environments");
  finding.claim = fmt::format("{} takes {} on average: {}.",
                              environments.empty() ? "Evaluation" : "Collecting experience", time,
                              frequency(work));
  // A single occasion does not show how often this happens.
  finding.confidence = work.occasions.size() > 1 ? 0.9 : 0.6;
  finding.evidence = occasions_of(context, work);
  finding.advice = {
      {"PyTorch",
       "Evaluate less often, on fewer batches, or with larger batches (no gradients need memory). "
       "Or evaluate checkpoints in a separate process.",
       "the program's own interval; trainers: eval_steps, val_check_interval, limit_val_batches",
       ""},
      {"TensorFlow/JAX", "Evaluate less often or on fewer batches.",
       "model.fit(validation_freq=n, validation_steps=m)", ""}};
  if (!environments.empty()) {
    finding.title = "Collecting experience between steps";
    finding.claim += fmt::format(
        " The model runs without training, and the program uses {}. Evaluation looks the same.",
        environments);
    finding.advice.front() = {
        "PyTorch",
        "Step several environments at once, so that one forward pass serves all. Run slow "
        "environments in separate processes. Evaluate less often.",
        "gymnasium.vector.AsyncVectorEnv; Stable-Baselines3: "
        "make_vec_env(n_envs=…, vec_env_cls=SubprocVecEnv)",
        ""};
  }
  return finding;
}

}  // namespace

extern const Rule kEvaluationTime = {
    "evaluation-time", "Evaluation between steps",
    "Evaluation takes over 5 % of the step cost, averaged over all steps.", check};

}  // namespace headway::analyzer
