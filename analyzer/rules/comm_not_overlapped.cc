// SPDX-License-Identifier: MIT
// comm-not-overlapped: gradients are exchanged only after the backward pass.
//
// Symptom: in every step, all collectives begin after nearly all backward compute.
// Mechanism: the first gradients are ready early in the backward pass. An exchange at its end (one
//   flat buffer, delay_allreduce, a manual reduction after backward()) leaves compute and network
//   idle in turn.
// Formula: recoverable = the smaller of exposed communication and backward compute, per step. A
//   collective is late if four fifths of its backward pass's kernel time precede it. Summing and
//   scaling gradients after the exchange belongs to the backward pass, too.
// Falsified by: collectives that begin earlier.
// Known false positives: persistent kernels that need all multiprocessors; sharded optimizers whose
// all-gather follows the update (only collectives before the update count).
// Source: delayed and overlapped all-reduce in PyTorch's and Apex' DDP.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/communication.h"
#include "analyzer/evidence/early_exchanges.h"
#include "analyzer/evidence/support.h"
#include "analyzer/kernels/communication.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using trace::Phase;

/// A collective is late if at least this share of the backward pass's kernel time precedes it. The
/// rest sums or scales exchanged gradients, or belongs to the last layer.
constexpr double kNearlyAll = 0.8;

/// The exchange of gradients in the steady steps of a device, before its update.
struct Exchange {
  std::int64_t collectives = 0;  ///< that begin before the update
  std::int64_t late = 0;         ///< of them, after nearly all of the backward pass
  DurationNs backward;           ///< kernel time, all steps
  std::int64_t steps = 0;
  bool phases = false;  ///< the trace distinguishes backward kernels from others
};

/// `passes`: backward passes of a step, each with an exchange of its own.
Exchange measure(const RuleContext& context, const DevicePartition& device, std::size_t passes) {
  struct Collective {
    TimeNs start;
    DurationNs backward;  ///< kernel time of the step's backward pass by then
  };
  struct OfStep {
    DurationNs backward;
    TimeNs update = TimeNs::max();
    std::vector<Collective> collectives;
  };
  CommunicationOps communication(context.trace, context.kernels);
  Exchange result;
  const DeviceStep* current = nullptr;
  OfStep of;
  auto close = [&] {
    if (!current) return;
    std::erase_if(of.collectives, [&](const Collective& one) { return one.start >= of.update; });
    result.collectives += std::ssize(of.collectives);
    for (std::size_t i = 0; i < of.collectives.size() && of.backward.ns > 0; ++i) {
      const std::size_t passes_before = i * passes / of.collectives.size();
      const double nearly_all =
          (static_cast<double>(passes_before) + kNearlyAll) / static_cast<double>(passes);
      result.late += ratio(of.collectives[i].backward, of.backward) >= nearly_all;
    }
    of = {};
  };
  result.steps = for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep& step, trace::DeviceOpId op) {
        if (&step != current) close();
        current = &step;
        Interval time = context.trace.device_ops.interval(op);
        trace::DeviceOpKind kind = context.trace.device_ops.kind[op.value];
        if (communication[op]) {
          of.collectives.push_back({time.begin, of.backward});
        } else if (kind == trace::DeviceOpKind::kKernel) {
          Phase phase = context.attribution.phase_of[op.value];
          if (phase == Phase::kUpdate) of.update = std::min(of.update, time.begin);
          if (phase == Phase::kBackward) {
            of.backward += time.length();
            result.backward += time.length();
            result.phases = true;
          }
        }
      });
  close();
  return result;
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (context.program.is_inference())
    return fine(rule, "The program does inference: no backward pass.");
  ClassShare share = worst_share(context, {TimeClass::kCommTransfer});
  if (!share.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (share.share() < kFindingShare)
    return fine(
        rule, fmt::format("Exposed communication: {}.", of_step(context, share.time, share.step)));
  const EarlyExchanges early = find_early_exchanges(context, {share.device, 1}).front();
  const auto passes = early.sums.empty() ? std::size_t{1} : static_cast<std::size_t>(early.passes);
  Exchange exchange = measure(context, *share.device, passes);
  if (!exchange.phases)
    return cannot_tell(rule,
                       "No kernel belongs to a known backward pass: record ranges of the phases, "
                       "or framework ops.");
  if (exchange.collectives == 0)
    return fine(rule, "No collective runs between the backward pass and the update.");
  double late = static_cast<double>(exchange.late) / static_cast<double>(exchange.collectives);
  if (late < 0.9)
    return fine(
        rule, fmt::format("{} of the collectives before the update begin during the backward pass.",
                          format_percent(1 - late)));
  DurationNs backward = exchange.backward / std::max<std::int64_t>(1, exchange.steps);
  DurationNs gain = std::min(share.time, backward);
  if (ratio(gain, context.step) < kFindingShare)
    return fine(
        rule, fmt::format("The backward pass computes for only {}: too short to hide the exchange.",
                          format_duration(backward)));
  Finding finding = found(rule, gain, context);
  finding.claim = fmt::format(
      "{} of {} collectives begin only after nearly all gradients. {} of backward compute {} could "
      "hide them.",
      format_count(exchange.late), format_count(exchange.collectives), format_duration(backward),
      per_step(context));
  finding.confidence = 0.85;
  finding.evidence =
      longest_segments(context, *share.device, {TimeClass::kCommTransfer}, communication_note);
  finding.advice = {
      {"PyTorch",
       "Start each bucket's all-reduce from gradient hooks on a separate stream, not after "
       "backward().",
       "torch.nn.parallel.DistributedDataParallel(model); Apex: delay_allreduce=False; FSDP: "
       "backward_prefetch=BackwardPrefetch.BACKWARD_PRE",
       ""},
      {"TensorFlow/JAX", "Let the scheduler start collectives as soon as their input is ready.",
       "XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true", ""}};
  return finding;
}

}  // namespace

extern const Rule kCommNotOverlapped = {
    "comm-not-overlapped", "Communication waits for the backward pass",
    "At least 90 % of the collectives before the update begin in the last fifth of the backward "
    "pass, which could hide over 5 % of the step.",
    check, true};

}  // namespace headway::analyzer
