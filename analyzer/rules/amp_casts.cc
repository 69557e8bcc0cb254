// SPDX-License-Identifier: MIT
// amp-casts: kernels that only change the number type take a noticeable part of the step.
//
// Symptom: copy kernels between FP32 and half precision, in both directions.
// Mechanism: autocast casts the inputs of each eligible op, and FP32 ops in between cast back.
//   Each cast is a memory pass that a neighbouring kernel could absorb.
// Formula: recoverable = time of the cast kernels. An upper bound: parameters kept in FP32 need one cast a step.
// Falsified by: casts hidden behind work of other streams.
// Known false positives: casts of inputs (bytes to floats) and of indices, which are unrelated to
//   AMP.
// Source: NVIDIA Apex's O1/O2 levels; PyTorch's autocast op lists.
#include <fmt/format.h>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

struct Casts {
  DurationNs recoverable;
  double kernels = 0;
};

std::vector<Evidence> longest_casts(const RuleContext& context, const DevicePartition& device) {
  LongestEvidence longest;
  for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep&, trace::DeviceOpId op) {
        if (!longest.wants(duration(context, op)) ||
            context.kernels.of(op).family != KernelFamily::kCast)
          return;
        trace::RangeId range = context.attribution.range_of[op.value];
        longest.add(context.trace.device_ops.interval(op), op,
                    range.valid()
                        ? fmt::format("cast in '{}'", name_of(context.trace, EventRef::of(range)))
                        : short_name(context, op));
      });
  return longest.take();
}

Finding check(const Rule& rule, const RuleContext& context) {
  auto [device, casts] = worst_device(context, [](const DevicePartition&, const KernelWork& work) {
    return Casts{work.of(KernelFamily::kCast), work.count(KernelFamily::kCast)};
  });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  DurationNs classified;
  DurationNs unknown;
  for (const KernelWork& work : context.work) {
    classified += work.compute();
    unknown += work.of(KernelFamily::kUnknown);
  }
  if (ratio(casts.recoverable, context.step) < kFindingShare) {
    if (classified.ns == 0) return cannot_tell(rule, "No device ran a kernel.");
    if (ratio(unknown, classified) > 0.5)
      return cannot_tell(rule,
                         fmt::format("{} of the kernel time is in kernels with unrecognised names.",
                                     format_percent(ratio(unknown, classified))));
    return fine(rule, fmt::format("Casts: {}.", of_step(context, casts.recoverable, context.step)));
  }
  Finding finding = found(rule, casts.recoverable, context);
  finding.claim =
      fmt::format("{:.0f} cast kernels {} take {}: they only convert number types.", casts.kernels,
                  per_step(context), of_step(context, casts.recoverable, context.step));
  finding.confidence = 0.75;
  finding.evidence = longest_casts(context, *device);
  finding.advice = {
      {"headway-train", "Keep the model in one half-precision format with master weights.",
       "--precision bf16", settings(context.trace, {"precision"})},
      {"PyTorch",
       "Keep whole regions in one type instead of casting around each op. Let a compiler fuse the "
       "remaining casts.",
       "model.to(torch.bfloat16), or torch.autocast around the whole model with FP32 islands "
       "removed; torch.compile(model)",
       ""},
      {"TensorFlow/JAX", "Use one compute type per model, and compile it to fuse casts.",
       "set_global_policy('mixed_bfloat16') with tf.function(jit_compile=True); in flax "
       "dtype=jnp.bfloat16, param_dtype=jnp.float32",
       ""}};
  return finding;
}

}  // namespace

extern const Rule kAmpCasts = {"amp-casts", "Casts between number types",
                               "Kernels that only convert number types take over 5 % of the step.",
                               check};

}  // namespace headway::analyzer
