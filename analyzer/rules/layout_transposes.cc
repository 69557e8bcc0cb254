// SPDX-License-Identifier: MIT
// layout-transposes: tensors change layout around convolutions.
//
// Symptom: nchwToNhwc, batched_transpose and strided copies before or after convolution kernels.
// Mechanism: the fastest convolution kernels need channels last. With channels first, the library
//   converts each input, weight and output in a separate memory pass.
// Formula: recoverable = time of transforms that name a layout, and of strided copies next to a
//   convolution on the same stream. Channels last throughout needs none of them.
// Falsified by: a model without convolutions (then the rule says fine), transforms of the input batch only.
// Known false positives: one conversion of the input per step remains; permutations in the model
//   itself.
// Source: cuDNN and MIOpen kernels; PyTorch's channels-last documentation.
#include <fmt/format.h>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/layout_kernels.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

struct Transforms {
  DurationNs recoverable;
  double kernels = 0;
  std::vector<Evidence> evidence;
};

Transforms measure(const RuleContext& context, const DevicePartition& device,
                   const KernelWork& work) {
  Transforms result;
  if (ratio(work.of(KernelFamily::kLayoutTransform), context.step) < kFindingShare ||
      work.of(KernelFamily::kConvolution).ns == 0)
    return result;
  LongestEvidence longest;
  std::int64_t steps = for_each_stream(
      context, device, [&](const DeviceStep&, std::span<const trace::DeviceOpId> ops) {
        for (std::size_t i = 0; i < ops.size(); ++i) {
          if (!changes_image_layout(context.kernels, ops, i)) continue;
          DurationNs time = duration(context, ops[i]);
          result.recoverable += time;
          result.kernels += 1;
          if (longest.wants(time))
            longest.add(context.trace.device_ops.interval(ops[i]), ops[i],
                        short_name(context, ops[i]));
        }
      });
  if (steps == 0) return result;
  result.recoverable = result.recoverable / steps;
  result.kernels /= static_cast<double>(steps);
  result.evidence = longest.take();
  return result;
}

Finding check(const Rule& rule, const RuleContext& context) {
  auto [device, transforms] = worst_device(
      context,
      [&](const DevicePartition& d, const KernelWork& w) { return measure(context, d, w); });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  DurationNs convolutions;
  DurationNs layout;
  DurationNs all;
  DurationNs unknown;
  for (const KernelWork& work : context.work) {
    convolutions = std::max(convolutions, work.of(KernelFamily::kConvolution));
    layout = std::max(layout, work.of(KernelFamily::kLayoutTransform));
    all += work.compute();
    unknown += work.of(KernelFamily::kUnknown);
  }
  if (ratio(transforms.recoverable, context.step) < kFindingShare) {
    if (all.ns == 0 || ratio(unknown, all) > 0.5)
      return cannot_tell(rule, "Most kernel names are unknown.");
    if (convolutions.ns == 0) return fine(rule, "No convolution kernel ran.");
    return fine(rule,
                fmt::format("Layout transforms: {}.", of_step(context, layout, context.step)));
  }
  Finding finding = found(rule, transforms.recoverable, context);
  finding.claim = fmt::format(
      "{:.0f} kernels {} only change tensor layouts around convolutions and take {}; the "
      "convolutions take {}.",
      transforms.kernels, per_step(context), of_step(context, transforms.recoverable, context.step),
      format_duration(convolutions));
  finding.confidence = 0.8;
  finding.evidence = std::move(transforms.evidence);
  finding.advice = {
      {"headway-train", "Keep images in the layout of the other ops.", "--layout nhwc",
       settings(context.trace, {"layout"})},
      {"PyTorch",
       "Keep model and inputs in channels last to avoid layout conversions. Check that no op falls "
       "back to channels first.",
       "model.to(memory_format=torch.channels_last), "
       "inputs.to(memory_format=torch.channels_last); on AMD also PYTORCH_MIOPEN_SUGGEST_NHWC=1",
       ""},
      {"TensorFlow/JAX", "Build the model with channels-last data and let XLA assign layouts.",
       "data_format='channels_last'; lax.conv_general_dilated(dimension_numbers=('NHWC', 'HWIO', "
       "'NHWC'))",
       ""}};
  return finding;
}

}  // namespace

extern const Rule kLayoutTransposes = {
    "layout-transposes", "Layout transposes",
    "Layout changes around convolutions take over 5 % of the step.", check};

}  // namespace headway::analyzer
