// SPDX-License-Identifier: MIT
// pipeline-bubble: stages of a pipeline wait for each other's micro batches.
//
// Symptom: a rank gets activations from one neighbour and gradients from the other, micro batch by
//   micro batch, and idles between them: later stages at the start of the step, earlier stages at
//   its end.
// Mechanism: with m micro batches on p stages, the last stage begins p - 1 passes late, and the
//   first one ends equally later than the last. A stage with more compute delays all others as
//   well.
// Formula: with equal stages, (p - 1) / (m + p - 1) of the step is idle. Recoverable = exposed
//   communication and waiting of the busiest stage (where all of it is bubble or message), plus
//   its compute beyond the mean stage. For one rank alone: its waits. Stages are recognised by
//   messages: in each step, equal numbers to and from one neighbour
//   (analyzer/evidence/pipeline.h).
// Falsified by: messages that arrive before they are needed.
// Known false positives: rank pairs that exchange halos or attention blocks in both directions
//   within a step.
// Source: Huang et al. 2019 (GPipe); Narayanan et al. 2021 (PipeDream-Flush, 1F1B, and the formula of its bubble).
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analyzer/evidence/communication.h"
#include "analyzer/evidence/pipeline.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// Stages are even if the busiest exceeds the mean stage by a smaller share than this.
constexpr double kUneven = 0.05;

std::string list_of(const Pipeline& pipeline) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, pipeline.stages.size()); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", format_duration(pipeline.stages[i].compute));
  return pipeline.stages.size() > kShown ? text + ", …" : text;
}

/// The claim if all stages are known: their waits and the reason.
std::string claim_of_whole(const RuleContext& context, const Pipeline& pipeline, DurationNs wait,
                           DurationNs uneven) {
  const PipelineStage& busiest = pipeline.busiest();
  std::string text = fmt::format(
      "{} stages pass {:.0f} micro batches; even the busiest stage (rank {}) is idle {}. With this "
      "many micro batches and stages, at least {} of a step is idle.",
      pipeline.stages.size(), pipeline.micro_batches, busiest.rank,
      of_step(context, wait, context.step), format_percent(pipeline.least_bubble()));
  const DurationNs mean = pipeline.mean_compute();
  if (uneven.ns > 0 && ratio(uneven, mean) >= kUneven)
    text += fmt::format(
        " The stages are uneven: they compute {} {}. Rank {} takes {} more than the mean, and the "
        "others wait.",
        list_of(pipeline), per_step(context), busiest.rank, format_percent(ratio(uneven, mean)));
  return text;
}

std::string place_of(const PipelineStage& stage) {
  if (stage.before < 0) return "the first stage of a pipeline";
  if (stage.after < 0) return "the last stage of a pipeline";
  return fmt::format("a stage between ranks {} and {}", stage.before, stage.after);
}

/// Time per step of messages with unknown ends, so that neighbours are unknown. (All-to-alls can be
/// recorded as such messages, too.)
DurationNs unknown_messages(const RuleContext& context) {
  const Collectives all = collectives_of(context.trace, context.steps, context.attribution);
  DurationNs sum;
  for (const RankCollective& row : all.rows) {
    const std::string& kind = all.groups[row.group].kind;
    if (kind == "sendrecv" || (is_point_to_point(kind) && row.peer < 0)) sum += row.time.length();
  }
  return sum / std::max<std::int64_t>(1, std::ssize(context.steps.all));
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare share = worst_share(context, {TimeClass::kCommTransfer, TimeClass::kStragglerWait});
  if (!share.device) return cannot_tell(rule, "No steady step has work on a device.");
  const Pipeline pipeline = find_pipeline(context);
  if (pipeline.stages.empty()) {
    if (share.share() >= kFindingShare &&
        ratio(unknown_messages(context), context.step) >= kFindingShare)
      return cannot_tell(rule,
                         "The peers of messages between ranks are unknown: record the peers of "
                         "sends and receives.");
    return fine(rule, "No pipeline: no rank passes micro batches to another.");
  }
  const DurationNs uneven =
      pipeline.whole ? std::max(DurationNs{0}, pipeline.busiest().compute - pipeline.mean_compute())
                     : DurationNs{0};
  const DurationNs wait = pipeline.whole ? pipeline.busiest().idle : pipeline.stages.front().idle;
  const DurationNs recoverable = std::min(context.step, wait + uneven);
  const std::string checked = pipeline.whole
                                  ? claim_of_whole(context, pipeline, wait, uneven)
                                  : fmt::format(
                                        "This rank is {}, with {:.0f} micro batches {}. It waits "
                                        "for its neighbours' messages {}. The other ranks' traces "
                                        "would show the number of stages and their balance.",
                                        place_of(pipeline.stages.front()), pipeline.micro_batches,
                                        per_step(context), of_step(context, wait, share.step));
  if (ratio(recoverable, context.step) < kFindingShare) return fine(rule, checked);
  Finding finding = found(rule, recoverable, context);
  finding.sub_cause = uneven > wait ? "uneven" : "micro-batches";
  finding.claim = checked;
  finding.confidence = pipeline.whole ? 0.95 : 0.75;
  finding.evidence =
      longest_segments(context, *share.device,
                       {TimeClass::kCommTransfer, TimeClass::kStragglerWait}, communication_note);
  finding.advice = {
      {"headway-train", "Split the batch into more micro batches.", "--micro-batches N",
       settings(context.trace, {"pipeline", "micro_batches", "batch"})},
      {"PyTorch",
       "Split the batch into more micro batches, while their kernels still fill the device. "
       "Interleave several model parts per stage. Move layers away from the busiest stage (the "
       "head weighs as much as some blocks).",
       "torch.distributed.pipelining: Schedule1F1B(stage, n_microbatches=…), "
       "ScheduleInterleaved1F1B; Megatron: "
       "--micro-batch-size, --num-layers-per-virtual-pipeline-stage; DeepSpeed: "
       "gradient_accumulation_steps, "
       "partition_method",
       ""}};
  return finding;
}

}  // namespace

extern const Rule kPipelineBubble = {
    "pipeline-bubble", "Pipeline stages wait for each other",
    "Pipeline ranks idle for over 5 % of the step, or their compute differs by as much.", check,
    true};

}  // namespace headway::analyzer
