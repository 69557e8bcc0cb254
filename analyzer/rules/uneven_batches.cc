// SPDX-License-Identifier: MIT
// uneven-batches: ranks get batches of different work, and all wait for the largest.
//
// Symptom: compute per step differs between ranks, and another rank is slow in every step.
// Mechanism: sequences or images of different sizes make batches of different cost. The collective
//   at the end of the step waits for the costliest one.
// Formula: excess = mean over steps of (slowest rank's compute - mean rank's). Fires if it is over
//   5 % of the step and compute follows the batches' work (correlation of at least 0.7 over ranks
//   and steps, each step centred). Work is in floating-point operations if recorded, else in
//   elements of the ops' inputs. Recoverable = excess.
// Falsified by: equal work with unequal compute (a slow device: straggler), or equal compute.
// Known false positives: pipeline stages, whose work differs by design. Waiting for experts with
//   more tokens belongs to expert-imbalance and is subtracted.
// Source: length bucketing in translation and speech training; sequence packing.
#include <fmt/format.h>

#include "analyzer/evidence/communication.h"
#include "analyzer/evidence/expert_regions.h"
#include "analyzer/evidence/support.h"
#include "analyzer/ranks/job.h"
#include "analyzer/ranks/work.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr double kFollows = 0.7;
constexpr double kSpread = 0.05;

std::string note(const RuleContext&, const Segment& segment) {
  return std::string(info(segment.time_class).label);
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (!context.job) return needs_all_ranks(rule, context);
  const Imbalance& imbalance = context.job->imbalance;
  if (imbalance.steps == 0)
    return cannot_tell(
        rule, "The ranks have no steady step in common: record the same steps on all ranks.");
  std::string compute =
      fmt::format("The slowest rank computes {} longer per step than the mean rank",
                  of_step(context, imbalance.excess, context.step));
  if (ratio(imbalance.excess, context.step) < kFindingShare) return fine(rule, compute + ".");
  const ExpertBalance experts = find_expert_balance(context);
  if (experts.layers > 0 && ratio(imbalance.excess - experts.uneven, context.step) < kFindingShare)
    return fine(rule, compute + ", because its experts get more tokens.");
  if (imbalance.work_measure == WorkMeasure::kNone)
    return cannot_tell(rule,
                       compute +
                           ", but the work per batch is unknown: record input shapes "
                           "(torch.profiler record_shapes=True) or floating-point operations.");
  std::string work = fmt::format(
      "{} of the batches differ by {} between ranks, correlation with "
      "compute {:.2f}",
      work_label(imbalance.work_measure), format_percent(imbalance.work_spread),
      imbalance.work_correlation);
  if (imbalance.work_correlation < kFollows || imbalance.work_spread < kSpread)
    return fine(rule, fmt::format("{}, but its batches are not the cause: {}.", compute, work));
  Finding finding = found(rule, imbalance.excess, context);
  finding.claim = fmt::format("{}: {}.", compute, work);
  finding.confidence = 0.85;
  ClassShare own = worst_share(context, {TimeClass::kComputeTensor, TimeClass::kComputeOther});
  if (own.device)
    finding.evidence = longest_segments(
        context, *own.device, {TimeClass::kComputeTensor, TimeClass::kComputeOther}, note, 3);
  finding.advice = {
      {"PyTorch",
       "Give all ranks batches of equal work: group samples by length, or pack sequences to a "
       "fixed number of tokens.",
       "a batch_sampler that sorts by length and deals neighbours to the ranks (Hugging Face: "
       "group_by_length=True), max-tokens batches",
       ""},
      {"TensorFlow/JAX", "Bucket by length, and pad each bucket to one size.",
       "tf.data.Dataset.bucket_by_sequence_length", ""}};
  return finding;
}

}  // namespace

extern const Rule kUnevenBatches = {"uneven-batches", "Uneven batches",
                                    "The slowest rank computes over 5 % of the step more than the "
                                    "mean rank, in proportion to its batches' work.",
                                    check, true};

}  // namespace headway::analyzer
