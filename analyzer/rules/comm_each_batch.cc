// SPDX-License-Identifier: MIT
// comm-each-batch: gradients are accumulated over several batches, and exchanged after each of them.
//
// Symptom: a step has several backward passes, and the same sums of gradients after each.
// Mechanism: the update reads the gradients once. Sums over ranks and over batches may be made in any
//   order, so one exchange of the accumulated gradients gives the same update.
// Formula: recoverable = per step, communication outside compute that belongs to the passes before
//   the last (on a host thread without the waits for late ranks), with the broadcasts of a model's
//   buffers before the next pass. All passes exchange the same bytes
//   (analyzer/evidence/early_exchanges.h).
// Falsified by: one exchange per step (no_sync(), accumulation inside the optimizer).
// Known false positives: FSDP and ZeRO, which cannot keep all gradients of all parameters; their
//   reduce-scatters do not count.
// Source: DistributedDataParallel.no_sync() of PyTorch; backward_passes_per_step of Horovod.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <vector>

#include "analyzer/evidence/communication.h"
#include "analyzer/evidence/early_exchanges.h"
#include "analyzer/evidence/support.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr std::size_t kShown = 12;

/// The segments of the partition's steady steps in which early exchanges are exposed.
std::vector<Segment> exposed(const RuleContext& context, const DevicePartition& device,
                             const EarlyExchanges& early) {
  const std::set<trace::DeviceOpId> sums(early.sums.begin(), early.sums.end());
  std::vector<Interval> ranges;
  for (trace::RangeId range : early.ranges) ranges.push_back(context.trace.ranges.interval(range));
  std::ranges::sort(ranges, {}, &Interval::begin);
  auto in_range = [&](const Segment& segment) {
    const auto after =
        std::ranges::upper_bound(ranges, segment.interval.begin, {}, &Interval::begin);
    return after != ranges.begin() && segment.interval.begin < std::prev(after)->end;
  };
  std::vector<Segment> found;
  for (const DeviceStep& step : device.steps) {
    if (!counts(context.steps, step)) continue;
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = device.segments[step.first_segment + i];
      if (segment.time_class != TimeClass::kCommTransfer) continue;
      const bool is_early = segment.cause.kind == EventRef::Kind::kDeviceOp
                                ? sums.contains(trace::DeviceOpId{segment.cause.index})
                                : in_range(segment);
      if (is_early) found.push_back(segment);
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater{},
                           [](const Segment& one) { return one.interval.length(); });
  return found;
}

Finding check(const Rule& rule, const RuleContext& context) {
  const ClassShare share = worst_share_with_hosts(context, {TimeClass::kCommTransfer});
  if (!share.device) return cannot_tell(rule, "No step is steady.");
  if (context.program.is_inference())
    return fine(rule, "The program does inference: no gradient exchange.");
  const EarlyExchanges early = find_early_exchanges(context, {share.device, 1}).front();
  if (early.empty())
    return fine(rule,
                "Gradients are exchanged once per step, or ranges do not tell the backward "
                "passes apart.");
  std::vector<Segment> segments = exposed(context, *share.device, early);
  DurationNs recoverable;
  for (const Segment& segment : segments) recoverable += segment.interval.length();
  recoverable = recoverable / std::max<std::int64_t>(1, share.device->steady_steps);
  const std::string checked = fmt::format(
      "A step has {} backward passes, and gradients are exchanged after each. The update needs "
      "them after the last; communication of the others takes {}",
      early.passes, of_step(context, recoverable, share.step));
  if (ratio(recoverable, context.step) < kFindingShare) return fine(rule, checked + ".");
  Finding finding = found(rule, recoverable, context);
  finding.claim = checked + ".";
  finding.confidence = 0.9;
  segments.resize(std::min(kShown, segments.size()));
  for (const Segment& segment : segments)
    finding.evidence.push_back(
        {segment.interval, segment.cause, communication_note(context, segment)});
  finding.advice = {
      {"headway-train", "Exchange only the sums of all micro batches.", "--sum-each-batch off",
       settings(context.trace, {"accumulate", "sum_each_batch"})},
      {"PyTorch",
       "Run all batches of a step but the last under no_sync(), forward and backward pass.",
       "with model.no_sync(): … (DistributedDataParallel); Accelerate: "
       "accelerator.accumulate(model)",
       ""},
      {"TensorFlow/JAX", "Add up gradients locally before they are exchanged.",
       "horovod.DistributedOptimizer(…, backward_passes_per_step=…); optax.MultiSteps(…)", ""}};
  return finding;
}

}  // namespace

extern const Rule kCommEachBatch = {
    "comm-each-batch", "Gradients exchanged after each batch",
    "Gradients are exchanged after each of a step's backward passes; exchanges before the last "
    "take over 5 % of the step.",
    check, true};

}  // namespace headway::analyzer
