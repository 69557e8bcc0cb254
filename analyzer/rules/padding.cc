// SPDX-License-Identifier: MIT
// padding: batches are padded to their longest sample, and the device computes on the padding.
//
// Symptom: one long sample makes a batch of short samples as slow as a batch of long ones.
// Mechanism: sentences of random lengths in one batch are padded to the longest; kernels compute
//   the padding, too.
// Formula: recoverable = the computing time of a step × the padding share of the batches'
//   elements. This share is exact: the program reports it (setting "padding"), or the PyTorch hook
//   counts it in attention masks.
// Falsified by: kernels that skip masked elements (packed sequences with boundaries).
// Known false positives: work independent of the batch's length (products over weights alone).
// Source: batches by length in fairseq and in Hugging Face's trainer (group_by_length); packed sequences in FlashAttention.
#include "analyzer/evidence/padding.h"

#include <fmt/format.h>

#include <cmath>

#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

std::string note(const RuleContext&, const Segment&) {
  return "computes on padding";
}

Finding check(const Rule& rule, const RuleContext& context) {
  const std::optional<double> padding = padding_of_batches(context.trace);
  if (!padding)
    return cannot_tell(rule,
                       "The amount of padding in batches is unknown: record attention masks, or "
                       "the program setting \"padding\".");
  const ClassShare compute =
      worst_share(context, {TimeClass::kComputeTensor, TimeClass::kComputeOther});
  if (!compute.device) return cannot_tell(rule, "No steady step has work on a device.");
  const DurationNs time{std::llround(*padding * static_cast<double>(compute.time.ns))};
  const std::string claim =
      fmt::format("{} of the batch contents are padding", format_percent(*padding));
  if (ratio(time, context.step) < kFindingShare)
    return fine(rule, fmt::format("{}: computing on it takes {}.", claim,
                                  of_step(context, time, context.step)));
  Finding finding = found(rule, time, context);
  finding.claim = fmt::format(
      "{}: shorter samples are filled up to the longest one in the batch, and computing on the "
      "padding takes {}.",
      claim, of_step(context, time, context.step));
  finding.confidence = 0.8;
  finding.evidence = longest_segments(context, *compute.device,
                                      {TimeClass::kComputeTensor, TimeClass::kComputeOther}, note);
  finding.advice = {
      {"headway-train", "Batch sentences of similar length.", "--balance sorted",
       settings(context.trace, {"balance"})},
      {"PyTorch",
       "Batch samples of similar length, or pack several into one row with attention that respects "
       "their boundaries.",
       "transformers: TrainingArguments(group_by_length=True), DataCollatorWithFlattening(); a "
       "batch_sampler that sorts by length within a window of some batches",
       ""},
      {"TensorFlow/JAX", "Batch samples of similar length.",
       "dataset.bucket_by_sequence_length(…); packed examples", ""}};
  return finding;
}

}  // namespace

extern const Rule kPadding = {"padding", "Padding",
                              "Computing on padding takes over 5 % of the step.", check};

}  // namespace headway::analyzer
