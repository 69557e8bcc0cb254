// SPDX-License-Identifier: MIT
// slow-strided-dgrad: data gradients of convolutions take far longer than their forward passes.
//
// Symptom: one dgrad kernel several times as long as the forward kernel of the same convolution.
// Mechanism: a data gradient does exactly the arithmetic of the forward pass; with stride over 1 it scatters into the
//   gaps between outputs, and older libraries pick an algorithm that computes the gaps too or gathers by index.
// Formula: d = time of an op's data gradients (zeros inserted for them included), f = of its forward kernels. Where d > 2.5 f,
//   recoverable = d - r f, with r the median d / f of the other convolutions, 1.5 where there are fewer than three.
//   Without a link between the passes: half the time of kernels whose name says strided dgrad, a rule of thumb.
// Falsified by: a forward pass that is fused or runs in another number type; f and d are then not comparable.
// Known false positives: Winograd forward against a plain gradient, which differ by up to 2.25 times.
// Source: cuDNN release notes (strided dgrad of 8.1 and later), CUTLASS's StrideSupport.
#include <fmt/format.h>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/slow_gradients.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"
#include "trace/trace.h"

namespace headway::analyzer {
namespace {

Finding check(const Rule& rule, const RuleContext& context) {
  auto [device, gradients] =
      worst_device(context, [&](const DevicePartition& d, const KernelWork& w) {
        return measure_gradients(context, d, w);
      });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  if (ratio(gradients.recoverable, context.step) < kFindingShare) {
    if (gradients.all.ns == 0) return fine(rule, "No convolution data gradient ran.");
    if (ratio(gradients.all, context.step) < kFindingShare)
      return fine(rule, fmt::format("Convolution data gradients: {}.",
                                    of_step(context, gradients.all, context.step)));
    if (ratio(gradients.linked, gradients.all) < 0.5)
      return cannot_tell(rule,
                         "The trace does not link data gradients to their forward passes; record "
                         "op ranges (emit_nvtx, torch.profiler with record_shapes).");
    return fine(rule, fmt::format("Data gradients: {}; speeding up the slow ones would save {}.",
                                  of_step(context, gradients.all, context.step),
                                  format_duration(gradients.recoverable)));
  }
  Finding finding = found(rule, gradients.recoverable, context);
  finding.claim =
      gradients.by_name
          ? fmt::format(
                "Data gradients of strided convolutions take {} in index-gathering kernels.",
                of_step(context, gradients.time, context.step))
          : fmt::format(
                "Data gradients of {} convolutions take {}, over {} times their forward passes, "
                "with the same arithmetic.",
                gradients.slow, of_step(context, gradients.time, context.step), kSlowGradient);
  finding.confidence = gradients.by_name ? 0.4 : 0.65;
  finding.evidence = std::move(gradients.evidence);
  finding.advice = {
      {"headway-train", "Compute strided data gradients directly.", "--dgrad fast",
       settings(context.trace, {"dgrad"})},
      {"PyTorch",
       "Let the library search for a faster algorithm, in channels last and half precision (newer "
       "releases have strided kernels). Update cuDNN.",
       "torch.backends.cudnn.benchmark = True, memory_format=torch.channels_last", ""},
      {"TensorFlow/JAX", "Let the library search for a faster algorithm. Update cuDNN.",
       "TF_CUDNN_USE_AUTOTUNE=1, XLA_FLAGS=--xla_gpu_autotune_level=4", ""}};
  return finding;
}

}  // namespace

extern const Rule kSlowStridedDgrad = {"slow-strided-dgrad", "Slow data gradients",
                                       "Convolution data gradients take over 2.5 times their "
                                       "forward passes, and over 5 % of the step.",
                                       check};

}  // namespace headway::analyzer
