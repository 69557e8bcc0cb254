// SPDX-License-Identifier: MIT
// comm-exposed: the device does nothing but communicate.
//
// Symptom: all-reduce (or all-gather, all-to-all, …) kernels run while no compute does; of a program
//   without a device, its training thread waits for communication.
// Mechanism: gradients travel on a separate stream and could overlap the backward pass. The
//   remainder after compute adds to the step.
// Formula: recoverable = comm_transfer: communication outside compute. If all ranks are known, it
//   excludes waiting for late ranks (see straggler).
// Falsified by: communication under compute (hidden_comm), which costs nothing.
// Known false positives: one rank alone shows waiting as communication; the claim says so.
// Source: the exposed communication of every distributed-training profiler.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/evidence/communication.h"
#include "analyzer/evidence/layer_exchanges.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

/// Sub-cause for exchanges of activations of layers that ranks share.
constexpr std::string_view kActivations = "activations";

/// The kind of communication with most exposed time: a kind of collective ("allreduce"), or
/// kActivations for all exchanges of activations.
std::string main_kind(const RuleContext& context, const DevicePartition& device) {
  Collectives collectives = collectives_of(context.trace, context.steps, context.attribution);
  std::map<std::uint32_t, std::uint32_t> group_of_op;
  for (const RankCollective& row : collectives.rows) group_of_op[row.op] = row.group;
  std::vector<DurationNs> time(collectives.groups.size());
  const std::set<trace::DeviceOpId> of_layers = find_layer_exchanges(context).ops(context.trace);
  DurationNs activations;
  DurationNs all;
  for (const Segment& segment : device.segments) {
    if (segment.time_class != TimeClass::kCommTransfer) continue;
    auto found = group_of_op.find(segment.cause.index);
    if (segment.cause.kind != EventRef::Kind::kDeviceOp || found == group_of_op.end()) continue;
    time[found->second] += segment.interval.length();
    all += segment.interval.length();
    if (of_layers.contains(trace::DeviceOpId{segment.cause.index}))
      activations += segment.interval.length();
  }
  if (activations.ns > 0 && 2 * activations.ns >= all.ns) return std::string(kActivations);
  auto most = std::max_element(time.begin(), time.end());
  return most == time.end() || most->ns == 0
             ? ""
             : collectives.groups[static_cast<std::size_t>(most - time.begin())].kind;
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare share = worst_share_with_hosts(context, {TimeClass::kCommTransfer});
  if (!share.device) return cannot_tell(rule, "No step is steady.");
  DurationNs hidden = share.device->hidden_comm;
  if (share.time.ns == 0 && hidden.ns == 0 && context.trace.world_size > 1) {
    return cannot_tell(rule,
                       fmt::format("The run has {} ranks but no recorded communication: record "
                                   "CUDA kernels, or the communication library's collectives.",
                                   context.trace.world_size));
  }
  const bool on_device = share.device->device.valid();
  std::string beside;
  if (!on_device)
    beside = "; what overlaps compute is not recorded";
  else if (hidden.ns > 0)
    beside =
        fmt::format("; another {} {} overlap compute", format_duration(hidden), per_step(context));
  if (share.share() < kFindingShare)
    return fine(rule, fmt::format("Exposed communication: {}{}.",
                                  of_step(context, share.time, share.step), beside));
  Finding finding = found(rule, share.time, context);
  finding.sub_cause = main_kind(context, *share.device);
  finding.claim = fmt::format(
      "{} for {}{}.{}",
      on_device ? "Only communication runs" : "The training thread waits for communication",
      of_step(context, share.time, share.step), beside,
      context.job
          ? ""
          : " In a trace of one rank, this includes waiting for late ranks: add the traces of all "
            "ranks.");
  finding.confidence = context.job ? 0.95 : 0.75;
  finding.evidence =
      longest_segments(context, *share.device, {TimeClass::kCommTransfer}, communication_note);
  if (finding.sub_cause == kActivations) {
    finding.claim +=
        " Most of it carries activations of layers that ranks share; the next kernel needs them.";
    finding.advice = {
        {"headway-train", "Share layers among fewer ranks, or train on separate batches.",
         "--tensor-parallel off", settings(context.trace, {"tensor_parallel", "ranks"})},
        {"PyTorch",
         "Share layers among fewer ranks, all on one node. Split products so that part of the "
         "exchange overlaps them.",
         "Megatron: --tensor-model-parallel-size, --tp-comm-overlap; PyTorch: "
         "torch._inductor.config._micro_pipeline_tp",
         ""}};
    return finding;
  }
  finding.advice = {
      {"PyTorch",
       "Overlap gradient exchange with the backward pass, send fewer bytes, or send less often. "
       "Half-precision gradients halve the transfer; accumulation divides it.",
       "DistributedDataParallel(bucket_cap_mb=…, gradient_as_bucket_view=True), "
       "ddp.register_comm_hook(state, bf16_compress_hook), no_sync() while accumulating",
       ""},
      {"TensorFlow/JAX",
       "Let the compiler overlap collectives with compute and combine small ones. Reduce in half "
       "precision.",
       "XLA_FLAGS=--xla_gpu_enable_latency_hiding_scheduler=true, "
       "--xla_gpu_all_reduce_combine_threshold_bytes=…",
       ""}};
  return finding;
}

}  // namespace

extern const Rule kCommExposed = {
    "comm-exposed", "Exposed communication",
    "Communication without compute beside it takes over 5 % of the step.", check, true};

}  // namespace headway::analyzer
