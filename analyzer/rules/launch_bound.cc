// SPDX-License-Identifier: MIT
// launch-bound: the host cannot launch ops as fast as the device finishes them.
//
// Symptom: many short kernels with gaps between them, launched just in time or late.
// Mechanism: each op costs the host a fixed time (framework, driver). If kernels are shorter, the
//   queue stays empty and every launch latency is exposed.
// Formula: recoverable = launch_gap: idle time before ops that waited for their launch last.
// Falsified by: long queues during the gaps (something else delays the ops).
// Known false positives: a debug build or a profiler that inflates host time.
// Source: CUDA graphs and fusion exist for this; the definition is in docs/reference/time-classes.md.
#include <fmt/format.h>

#include "analyzer/evidence/support.h"
#include "analyzer/partition/steady_ops.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

std::string note(const RuleContext& context, const Segment& segment) {
  if (segment.cause.kind == EventRef::Kind::kRange)
    return fmt::format("issued in '{}'", name_of(context.trace, segment.cause));
  if (segment.cause.kind != EventRef::Kind::kCall) return "the host has not launched the next op";
  trace::DeviceOpId op = context.trace.calls.op[segment.cause.index];
  return fmt::format("launch of '{}'",
                     name_of(context.trace, op.valid() ? EventRef::of(op) : segment.cause));
}

struct Kernels {
  double late = 0;  ///< share of them that waited for their launch, not for the queue
  double per_step = 0;
  double median_ns = 0;
};

Kernels kernels_in_steady_steps(const RuleContext& context, const DevicePartition& device) {
  std::vector<double> durations;
  const trace::DeviceOps& ops = context.trace.device_ops;
  std::int64_t steps = for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep&, trace::DeviceOpId op) {
        if (ops.kind[op.value] == trace::DeviceOpKind::kKernel)
          durations.push_back(static_cast<double>(ops.interval(op).length().ns));
      });
  Kernels result;
  if (steps) result.per_step = static_cast<double>(durations.size()) / static_cast<double>(steps);
  result.median_ns = median(durations);
  std::size_t late = 0;
  for (const DeviceStep& step : device.steps) {
    if (!counts(context.steps, step)) continue;
    for (std::uint32_t i = 0; i + 1 < step.segment_count; ++i) {
      const Segment* at = &device.segments[step.first_segment + i];
      late +=
          at->time_class == TimeClass::kLaunchGap && at[1].cause.kind == EventRef::Kind::kDeviceOp;
    }
  }
  if (!durations.empty())
    result.late = std::min(1.0, static_cast<double>(late) / static_cast<double>(durations.size()));
  return result;
}

Finding check(const Rule& rule, const RuleContext& context) {
  ClassShare gap = worst_share(context, {TimeClass::kLaunchGap});
  if (!gap.device) return cannot_tell(rule, "No steady step has work on a device.");
  if (context.trace.calls.size() == 0)
    return cannot_tell(rule, "The trace has no launch calls; record with CUDA calls enabled.");
  if (gap.share() < kFindingShare)
    return fine(rule, fmt::format("Launch wait: {}.", of_step(context, gap.time, gap.step)),
                gap.time);
  Kernels kernels = kernels_in_steady_steps(context, *gap.device);
  Finding finding = found(rule, gap.time, context);
  finding.claim = fmt::format(
      "The device waits {} for launches: {:.0f} kernels {} with a median of {} are too short for "
      "the host to run ahead, and {} of them are launched late.",
      of_step(context, gap.time, gap.step), kernels.per_step, per_step(context),
      format_duration({static_cast<std::int64_t>(kernels.median_ns)}),
      format_percent(kernels.late));
  // A few late launches may have another reason; if most are late, launching is the limit.
  finding.confidence = 0.3 + 0.65 * kernels.late;
  finding.evidence = longest_segments(context, *gap.device, {TimeClass::kLaunchGap}, note);
  finding.advice = {
      {"headway-train",
       "Use a larger batch, so that each launch does more work. Fuse ops for fewer launches.",
       "--batch N --fused-bn on --fused-optimizer multi-tensor",
       settings(context.trace, {"batch", "fused_bn", "fused_optimizer"})},
      {"PyTorch",
       "Replay the step as a CUDA graph, or let a compiler fuse it. A larger batch makes kernels "
       "longer.",
       "torch.compile(model, mode='reduce-overhead') or torch.cuda.make_graphed_callables(…)", ""},
      {"TensorFlow/JAX", "Compile the whole step into one program.",
       "tf.function(jit_compile=True), jax.jit over the whole step", ""}};
  return finding;
}

}  // namespace

extern const Rule kLaunchBound = {"launch-bound", "Launch-bound",
                                  "Late launches keep the device idle for over 5 % of the step.",
                                  check};

}  // namespace headway::analyzer
