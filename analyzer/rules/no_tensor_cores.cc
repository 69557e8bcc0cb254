// SPDX-License-Identifier: MIT
// no-tensor-cores: matrix products run on the general cores of a GPU that has tensor cores.
//
// Symptom: GEMM and convolution kernels named as FP32 or plain FMA (sgemm, scudnn, ffma, simt).
//   The rule makes no claim about general-core kernels without a number type in their name, such
//   as those of a simulated GPU.
// Mechanism: tensor cores have 8 to 16 times the arithmetic rate. FP32 inputs reach them only as
//   TF32 (Ampere and later) or after a cast to half precision (AMP).
// Formula: per kernel, recoverable = d - max(flops / (0.5 x tensor peak), bytes / bandwidth) if
//   its flops are known; else (d - 5 us) x (1 - 1/s) with s = 1 + 0.3 x (tensor peak / FP32 peak -
//   1), or s = 2 for an unknown GPU. 0.3 and 0.5 are rules of thumb: training kernels reach this
//   share of the peaks' ratio.
// Falsified by: kernels bound by memory or launch latency, which gain nothing.
// Known false positives: work that needs exact FP32 or FP64. Vector products (gemv) are excluded.
// Source: NVIDIA's mixed-precision training guide; peaks in analyzer/hardware/gpus.cc.
#include <fmt/format.h>

#include "analyzer/evidence/device_streams.h"
#include "analyzer/evidence/support.h"
#include "analyzer/rules/registry.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

constexpr double kFixedNs = 5'000;
constexpr double kRatioReached = 0.3;
constexpr double kPeakReached = 0.5;
constexpr double kSpeedupUnknownGpu = 2;

struct Slow {
  DurationNs recoverable;
  DurationNs time;
  double kernels = 0;
  double modelled_ns = 0;  ///< part of `time` with known flops
  DurationNs bf16;         ///< of `time`
  DurationNs nameless;     ///< of matrix kernels on general cores without a known number type
  std::vector<Evidence> evidence;
};

bool is_on_general_cores(const KernelTraits& traits) {
  return (traits.family == KernelFamily::kGemm || traits.family == KernelFamily::kConvolution) &&
         traits.math_unit == trace::MathUnit::kGeneral;
}
bool is_slow(const KernelTraits& traits) {
  return is_on_general_cores(traits) &&
         (traits.precision == Precision::kFp32 || is_half(traits.precision));
}

double speedup(const DeviceLimits& limits) {
  if (limits.fp32_flops <= 0 || limits.easy_tensor_flops <= 0) return kSpeedupUnknownGpu;
  return 1 + kRatioReached * (limits.easy_tensor_flops / limits.fp32_flops - 1);
}

Slow measure(const RuleContext& context, const DevicePartition& device, const KernelWork& work) {
  Slow slow;
  DeviceLimits limits = limits_of(context, device);
  if (limits.tensor_cores != DeviceLimits::TensorCores::kPresent || work.matrix_general.ns == 0)
    return slow;
  const trace::DeviceOps& ops = context.trace.device_ops;
  double factor = 1 - 1 / speedup(limits);
  double saved = 0;
  LongestEvidence longest;
  auto visit = [&](const DeviceStep&, trace::DeviceOpId op) {
    const KernelTraits& traits = context.kernels.of(op);
    if (is_on_general_cores(traits) && traits.precision == Precision::kUnknown)
      slow.nameless += duration(context, op);
    if (!is_slow(traits)) return;
    auto ns = static_cast<double>(duration(context, op).ns);
    slow.time += duration(context, op);
    if (traits.precision == Precision::kBf16) slow.bf16 += duration(context, op);
    slow.kernels += 1;
    if (ops.flops[op.value] > 0 && limits.easy_tensor_flops > 0) {
      double ideal = static_cast<double>(ops.flops[op.value]) /
                     (kPeakReached * limits.easy_tensor_flops) * 1e9;
      if (limits.memory_bytes_per_second > 0)
        ideal = std::max(
            ideal, static_cast<double>(ops.bytes[op.value]) / limits.memory_bytes_per_second * 1e9);
      saved += std::max(0.0, ns - ideal);
      slow.modelled_ns += ns;
    } else {
      saved += std::max(0.0, ns - kFixedNs) * factor;
    }
    if (longest.wants(duration(context, op)))
      longest.add(ops.interval(op), op,
                  fmt::format("{} on general cores", short_name(context, op)));
  };
  std::int64_t steps = for_each_steady_op(context.trace, context.steps, device, visit);
  if (steps == 0) return slow;
  slow.recoverable = {static_cast<std::int64_t>(saved) / steps};
  slow.time = slow.time / steps;
  slow.bf16 = slow.bf16 / steps;
  slow.nameless = slow.nameless / steps;
  slow.kernels /= static_cast<double>(steps);
  slow.modelled_ns /= static_cast<double>(steps);
  slow.evidence = longest.take();
  return slow;
}

/// True if the environment forbids TF32. NVIDIA's libraries let this variable override the
/// program's setting (their documentation of TF32).
bool tf32_is_forbidden(const RuleContext& context) {
  return context.trace.meta_value("env.NVIDIA_TF32_OVERRIDE") == "0";
}

std::vector<Advice> advice(const RuleContext& context, const DeviceLimits& limits) {
  if (limits.easy_is_tf32 && tf32_is_forbidden(context)) {
    const std::string why = "Allow TF32: the environment forbids it.";
    std::vector<Advice> list;
    for (const char* framework : {"headway-train", "PyTorch", "TensorFlow/JAX"})
      list.push_back({framework, why, "unset NVIDIA_TF32_OVERRIDE", ""});
    return list;
  }
  std::string torch = "torch.autocast('cuda', dtype=torch.float16) with torch.amp.GradScaler()";
  std::string flow = "tf.keras.mixed_precision.set_global_policy('mixed_float16')";
  std::string why =
      "Cast matrix products to half precision; this device has no FP32 path to tensor cores.";
  if (limits.easy_is_tf32) {
    torch =
        "torch.set_float32_matmul_precision('high'), torch.backends.cudnn.allow_tf32 = True; "
        "or torch.autocast('cuda', dtype=torch.bfloat16)";
    flow =
        "tf.config.experimental.enable_tensor_float_32_execution(True); "
        "jax.config.update('jax_default_matmul_precision', 'tensorfloat32')";
    why = "Allow TF32 for FP32 products, or run them in bfloat16.";
  } else if (limits.bf16) {
    torch = "torch.autocast('cuda', dtype=torch.bfloat16)";
    flow = "tf.keras.mixed_precision.set_global_policy('mixed_bfloat16')";
  }
  return {{"PyTorch", why + " Keep dimensions multiples of 8.", torch, ""},
          {"TensorFlow/JAX", why + " Keep dimensions multiples of 8.", flow, ""}};
}

Finding check(const Rule& rule, const RuleContext& context) {
  auto [device, slow] = worst_device(context, [&](const DevicePartition& d, const KernelWork& w) {
    return measure(context, d, w);
  });
  if (!device) return cannot_tell(rule, "No steady step has work on a device.");
  DurationNs matrix;
  DurationNs unsaid;
  DurationNs tensor;
  for (const KernelWork& work : context.work) {
    matrix += work.matrix();
    unsaid += work.matrix_unsaid;
    tensor += work.matrix_tensor;
  }
  DeviceLimits limits = limits_of(context, *device);
  if (limits.tensor_cores == DeviceLimits::TensorCores::kAbsent)
    return fine(rule, "The device has no tensor cores.");
  if (matrix.ns == 0)
    return cannot_tell(rule, "No kernel name shows a GEMM, convolution or attention.");
  if (limits.tensor_cores == DeviceLimits::TensorCores::kUnknown && tensor.ns == 0)
    return cannot_tell(rule, "Neither the trace nor its kernel names identify the GPU.");
  if (ratio(slow.recoverable, context.step) < kFindingShare) {
    if (ratio(unsaid, matrix) > 0.5)
      return cannot_tell(
          rule, fmt::format("{} of the matrix kernel time is in kernels with unknown core type.",
                            format_percent(ratio(unsaid, matrix))));
    if (ratio(slow.nameless, context.step) >= kFindingShare)
      return cannot_tell(
          rule,
          fmt::format("Matrix kernels on general cores take {}, and their names do not say in "
                      "which number type. `headway whatif` predicts the gain of tensor cores.",
                      of_step(context, slow.nameless, context.step)));
    return fine(rule, fmt::format("{} of the matrix kernel time runs on tensor cores; moving the "
                                  "rest there would save {} {}.",
                                  format_percent(ratio(tensor, matrix)),
                                  format_duration(slow.recoverable), per_step(context)));
  }
  Finding finding = found(rule, slow.recoverable, context);
  const bool bf16 = !limits.bf16 && ratio(slow.bf16, slow.time) > 0.5;
  finding.claim = fmt::format(
      "{:.0f} GEMM and convolution kernels {} take {} in {} on general cores, though the device "
      "has tensor cores{}; tensor cores would save about {}.",
      slow.kernels, per_step(context), of_step(context, slow.time, context.step),
      bf16 ? "BF16" : "FP32", bf16 ? " for FP16 but not BF16" : "",
      format_duration(slow.recoverable));
  bool modelled = slow.modelled_ns * 2 > static_cast<double>(slow.time.ns);
  finding.confidence = modelled ? 0.8 : limits.model ? 0.7 : 0.6;
  finding.evidence = std::move(slow.evidence);
  if (limits.easy_is_tf32 && tf32_is_forbidden(context))
    finding.claim += " NVIDIA_TF32_OVERRIDE=0 prevents it.";
  finding.advice = advice(context, limits);
  return finding;
}

}  // namespace

extern const Rule kNoTensorCores = {
    "no-tensor-cores", "Tensor cores unused",
    "GEMMs and convolutions run on general cores; tensor cores would save over 5 % of the step.",
    check};

}  // namespace headway::analyzer
