// SPDX-License-Identifier: MIT
// kernel-gaps: the device pauses between kernels that are already in its queue.
//
// Symptom: a full queue of short kernels, and a microsecond or two of nothing after each.
// Mechanism: between two launches on a stream the device ends one kernel, makes its results visible
//   and sets up the next one. Faster launches do not shorten this; fewer kernels do, and nodes of a
//   graph follow each other more closely.
// Formula: recoverable = front-end gaps, if they take 5 % of the step: idle time before kernels that
//   had reached the device before it ran dry, up to 10 us each. Nodes of graphs are left out.
// Falsified by: launches that are late for longer (launch-bound: the queue is not full); gaps that stay
//   as long when the same kernels run in a graph.
// Known false positives: a recorder that makes kernels run one after the other lengthens the gaps.
// Source: NVIDIA's and PyTorch's measurements of graphs; docs/reference/time-classes.md.
#include <fmt/format.h>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"
#include "common/statistics.h"

namespace headway::analyzer {
namespace {

struct Gaps {
  DurationNs recoverable;  ///< per step
  double per_step = 0;
  double median_ns = 0;
};

bool is_of_graph(const RuleContext& context, const Segment& gap) {
  return gap.cause.kind == EventRef::Kind::kCall &&
         context.trace.calls.kind[gap.cause.index] == trace::DeviceCallKind::kGraphLaunch;
}

/// Longer gaps come from launches that take long to reach the device.
constexpr DurationNs kLongestGap{10'000};

/// The name of the op after a gap.
std::string next_op(const RuleContext& context, const Segment& gap) {
  if (gap.cause.kind != EventRef::Kind::kCall)
    return std::string(name_of(context.trace, gap.cause));
  const trace::DeviceOpId op = context.trace.calls.op[gap.cause.index];
  return fmt::format("before '{}', which was queued",
                     op.valid() ? short_name(context, op) : name_of(context.trace, gap.cause));
}

Gaps measure(const RuleContext& context, const DevicePartition& device) {
  Gaps gaps;
  std::vector<double> lengths;
  std::int64_t steps = 0;
  for (const DeviceStep& step : device.steps) {
    if (!counts(context.steps, step)) continue;
    ++steps;
    for (std::uint32_t i = 0; i < step.segment_count; ++i) {
      const Segment& segment = device.segments[step.first_segment + i];
      if (segment.time_class != TimeClass::kFrontendGap || is_of_graph(context, segment) ||
          segment.interval.length() > kLongestGap)
        continue;
      gaps.recoverable += segment.interval.length();
      lengths.push_back(static_cast<double>(segment.interval.length().ns));
    }
  }
  if (steps == 0) return gaps;
  gaps.recoverable = gaps.recoverable / steps;
  gaps.per_step = static_cast<double>(lengths.size()) / static_cast<double>(steps);
  gaps.median_ns = median(lengths);
  return gaps;
}

Finding check(const Rule& rule, const RuleContext& context) {
  auto [device, gaps] = worst_device(
      context, [&](const DevicePartition& d, const KernelWork&) { return measure(context, d); });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  if (context.trace.calls.size() == 0)
    return cannot_tell(rule, "The trace has no launch calls; record with CUDA calls enabled.");
  if (ratio(gaps.recoverable, context.step) < kFindingShare)
    return fine(rule,
                fmt::format("Gaps between queued kernels: {}.",
                            of_step(context, gaps.recoverable, context.step)),
                gaps.recoverable);
  if (device->per_steady_step[TimeClass::kLaunchGap] > gaps.recoverable)
    return fine(rule,
                fmt::format("Gaps between queued kernels: {}; launches are late for longer.",
                            of_step(context, gaps.recoverable, context.step)),
                gaps.recoverable);
  Finding finding = found(rule, gaps.recoverable, context);
  finding.claim = fmt::format(
      "The device pauses {:.0f} times {} between kernels that are already queued, {} each: {}.",
      gaps.per_step, per_step(context),
      format_duration({static_cast<std::int64_t>(gaps.median_ns)}),
      of_step(context, gaps.recoverable, context.step));
  finding.confidence = 0.6;
  finding.evidence = longest_segments(context, *device, {TimeClass::kFrontendGap}, next_op);
  finding.advice = {
      {"headway-train", "Replay the step as a graph. Fuse ops for fewer kernels.",
       "--cuda-graph on --graph-compiler on",
       settings(context.trace, {"cuda_graph", "graph_compiler"})},
      {"PyTorch", "Replay the step as a CUDA graph, or let a compiler fuse small kernels.",
       "torch.compile(model, mode='reduce-overhead') or torch.cuda.make_graphed_callables(…)", ""},
      {"TensorFlow/JAX", "Compile the whole step into one program.",
       "tf.function(jit_compile=True), jax.jit over the whole step", ""}};
  return finding;
}

}  // namespace

extern const Rule kKernelGaps = {
    "kernel-gaps", "Gaps between queued kernels",
    "The device pauses between queued kernels for over 5 % of the step.", check};

}  // namespace headway::analyzer
