// SPDX-License-Identifier: MIT
// recomputation: the backward pass recomputes activations that memory could hold.
//
// Symptom: forward kernels run again inside the backward pass, block by block.
// Mechanism: activation checkpointing keeps only a block's input and repeats its forward pass
//   before its backward pass. It trades about a third more arithmetic for memory; with free
//   memory, it is a loss.
// Formula: recoverable = time of backward-pass kernels that repeat four or more consecutive
//   forward kernels with the same names and grids, including a matrix product
//   (analyzer/evidence/recomputed.h). Fires if this takes over 5 % of the step and memory has
//   room: with the op graph, the repeated ops' results and the peak use fit into nine tenths of
//   it; without it, less than 45 % is used.
// Falsified by: a device whose memory is full without these results.
// Known false positives: memory needed only by longer inputs later in the run, or by another
//   process.
// Source: Chen et al. 2016 (sublinear memory cost); Korthikanti et al. 2022 (selective recomputation).
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/evidence/recomputed.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

std::string memory_text(const Recomputed& its) {
  if (its.free_bytes < 0) return "Free memory is unknown: record the device's memory counters";
  const std::string left = format_bytes(its.free_bytes);
  if (its.bytes == 0) return fmt::format("{} of device memory are free at the peak", left);
  return fmt::format("keeping their results takes about {}, and {} are free at the peak",
                     format_bytes(its.bytes), left);
}

std::vector<Evidence> evidence_of(const RuleContext& context, const Recomputed& its) {
  constexpr std::size_t kShown = 8;
  const trace::DeviceOps& ops = context.trace.device_ops;
  std::vector<trace::DeviceOpId> longest = its.ops;
  std::ranges::stable_sort(longest, [&](trace::DeviceOpId a, trace::DeviceOpId b) {
    return ops.interval(a).length() > ops.interval(b).length();
  });
  longest.resize(std::min(longest.size(), kShown));
  std::vector<Evidence> evidence;
  for (trace::DeviceOpId op : longest)
    evidence.push_back({ops.interval(op), EventRef::of(op), "also runs in the forward pass"});
  return evidence;
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (context.program.is_inference())
    return fine(rule, "The program does inference: no backward pass.");
  const DevicePartition* worst = nullptr;
  Recomputed its;
  bool phases = false;
  for (const DevicePartition& device : context.partitions) {
    if (!device.device.valid() || device.steady_steps == 0) continue;
    Recomputed one = find_recomputed(context, device);
    phases |= one.backward.ns > 0;
    if (worst && one.time <= its.time) continue;
    its = std::move(one);
    worst = &device;
  }
  if (!worst) return cannot_tell(rule, "No steady step has work on a device.");
  if (!phases)
    return cannot_tell(rule,
                       "No kernel belongs to a known backward pass: record ranges of the phases, "
                       "or framework ops.");
  const std::int64_t steps = std::max<std::int64_t>(1, its.steps);
  const std::string checked = fmt::format(
      "{} forward kernels {} run again in the backward pass, {} ({} of the backward pass)",
      format_count(its.kernels / steps), per_step(context),
      of_step(context, its.time, context.step), format_percent(ratio(its.time, its.backward)));
  if (its.kernels == 0) return fine(rule, "No forward kernels run again in the backward pass.");
  if (ratio(its.time, context.step) < kFindingShare) return fine(rule, checked + ".");
  if (its.room == MemoryRoom::kNo)
    return fine(rule,
                fmt::format("{}; {}: too little to keep the results.", checked, memory_text(its)));
  if (its.room == MemoryRoom::kUnknown)
    return cannot_tell(rule, fmt::format("{}. {}.", checked, memory_text(its)));
  Finding finding = found(rule, its.time, context);
  finding.claim = fmt::format("{}; {}.", checked, memory_text(its));
  finding.confidence = its.bytes > 0 ? 0.9 : 0.7;
  finding.evidence = evidence_of(context, its);
  finding.advice = {
      {"headway-train", "Keep activations for the backward pass.", "--recompute off",
       settings(context.trace, {"recompute"})},
      {"PyTorch",
       "Keep activations of as many blocks as fit, or recompute only cheap ops (not matrix "
       "products).",
       "torch.utils.checkpoint.checkpoint(…) around fewer blocks, "
       "create_selective_checkpoint_contexts(…); "
       "transformers: gradient_checkpointing_disable(); Megatron: --recompute-activations instead "
       "of "
       "--recompute-granularity full",
       ""},
      {"TensorFlow/JAX", "Save more residuals.",
       "jax.checkpoint(…, policy=jax.checkpoint_policies.dots_saveable), or no checkpoint", ""}};
  return finding;
}

}  // namespace

extern const Rule kRecomputation = {
    "recomputation", "Activations recomputed despite free memory",
    "Recomputing forward kernels takes over 5 % of the step, and memory could hold their results.",
    check};

}  // namespace headway::analyzer
