// SPDX-License-Identifier: MIT
// inference-precision: inference multiplies in wider types than the GPU's fastest.
//
// Symptom: a forward-only program with matrix kernels named as FP32, TF32, FP16 or BF16.
// Mechanism: a trained network needs less precision than training. FP16 and BF16 need half the
//   bytes of FP32 and have 8 to 16 times its rate on tensor cores. INT8, with per-channel weight
//   scales and calibrated activation scales, needs a quarter of the bytes and has twice the FP16
//   rate since Turing. Volta's tensor cores do not support integers.
// Formula: per kernel, recoverable = (d - 5 us) x (1 - 1/s) with s = 1 + 0.3 x (peak of the narrowest type that the device
//   multiplies fastest / peak of its own type - 1): 0.3 is what matrix kernels reach of the ratio of peaks, as no-tensor-cores has it. The
//   replay of infer-in-16-bits and infer-in-int8 takes its place.
// Falsified by: kernels dominated by launch and end; accuracy that calibration cannot keep.
// Known false positives: networks that are already quantised by hand in kernels whose names say FP16 (weights alone in 4 or 8
//   bits). Training is never judged.
// Source: NVIDIA's Turing and Ampere whitepapers (peaks by type); Wu et al., "Integer quantization for deep learning inference", 2020.
#include <fmt/format.h>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr double kFixedNs = 5'000;
constexpr double kRatioReached = 0.3;

struct Wide {
  DurationNs recoverable;
  DurationNs time;
  std::vector<Evidence> evidence;
};

/// The highest rate of the device's matrix units over 8-bit integers and 16-bit types.
double narrowest(const DeviceLimits& limits) {
  return std::max(limits.peak_flops(trace::MathUnit::kTensor, Precision::kInt8),
                  limits.peak_flops(trace::MathUnit::kTensor, Precision::kFp16));
}

bool is_wide(const KernelTraits& traits) {
  return is_matrix_work(traits.family) && traits.precision != Precision::kUnknown &&
         traits.precision != Precision::kInt8 && traits.precision != Precision::kFp8 &&
         traits.precision != Precision::kFp4 && traits.precision != Precision::kFp64;
}

Wide measure(const RuleContext& context, const DevicePartition& device) {
  Wide wide;
  const DeviceLimits limits = limits_of(context, device);
  double saved = 0;
  LongestEvidence longest;
  const trace::DeviceOps& ops = context.trace.device_ops;
  const std::int64_t steps = for_each_steady_op(
      context.trace, context.steps, device, [&](const DeviceStep&, trace::DeviceOpId op) {
        const KernelTraits traits = context.kernels.of(op);
        const double now = limits.peak_flops(traits.math_unit, traits.precision);
        if (!is_wide(traits) || now <= 0) return;
        const double faster = 1 + kRatioReached * (narrowest(limits) / now - 1);
        if (faster <= 1) return;
        wide.time += duration(context, op);
        saved += std::max(0.0, static_cast<double>(duration(context, op).ns) - kFixedNs) *
                 (1 - 1 / faster);
        if (longest.wants(duration(context, op)))
          longest.add(
              ops.interval(op), op,
              fmt::format("{} in {}", short_name(context, op), precision_label(traits.precision)));
      });
  if (steps == 0) return {};
  wide.recoverable = {static_cast<std::int64_t>(saved) / steps};
  wide.time = wide.time / steps;
  wide.evidence = longest.take();
  return wide;
}

Finding check(const Rule& rule, const RuleContext& context) {
  if (!context.program.is_inference())
    return fine(rule, context.program.mode == ProgramMode::kTraining ? "The program trains."
                                                                     : "No sign of inference.");
  auto [device, wide] = worst_device(
      context, [&](const DevicePartition& d, const KernelWork&) { return measure(context, d); });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  if (limits_of(context, *device).model == nullptr)
    return cannot_tell(rule, "This device's peak rates by number type are unknown.");
  if (ratio(wide.recoverable, context.step) < kFindingShare)
    return fine(rule, fmt::format("Matrix products in wider types than needed: {}.",
                                  of_step(context, wide.time, context.step)));
  Finding finding = found(rule, wide.recoverable, context);
  finding.claim = fmt::format(
      "Inference multiplies in wider types than this device's fastest: these products take {}.",
      of_step(context, wide.time, context.step));
  finding.confidence = 0.7;
  finding.evidence = std::move(wide.evidence);
  return finding;
}

}  // namespace

extern const Rule kInferencePrecision = {"inference-precision", "Wide number types in inference",
                                         "Inference runs matrix products in FP32, TF32 or 16 bits; "
                                         "narrower types would save over 5 % of the step.",
                                         check};

}  // namespace headway::analyzer
