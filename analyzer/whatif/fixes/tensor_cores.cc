// SPDX-License-Identifier: MIT
// Matrix kernels on general cores run on tensor cores: TF32 where there is one, FP16 or BF16 else.
#include <fmt/format.h>

#include "analyzer/hardware/gpus.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// Tensor kernels reach less of their peak than general ones (memory keeps up less).
constexpr double kShareOfPeak = 0.7;

/// How much faster the matrix units are, and why.
struct Speedup {
  double factor = 0;  ///< 0: not known
  std::string reason;
};

/// Rates of large products, where they were measured on this device: they have what the formula
/// guesses.
Speedup measured_speedup(const Device& device, const DeviceLimits& limits,
                         const MachineFacts& machine) {
  const auto general = machine.of(device, MachineFigure::kGemmFp32);
  const auto matrix =
      machine.of(device, limits.easy_is_tf32 ? MachineFigure::kGemmTf32 : MachineFigure::kGemmFp16);
  if (!general || !matrix) return {};
  return {std::max(1.0, matrix->value.p50 / general->value.p50),
          fmt::format("matrix products, {}", matrix->source)};
}

Speedup speedup(const Device& device, const DeviceLimits& limits, const MachineFacts& machine) {
  if (Speedup measured = measured_speedup(device, limits, machine); measured.factor > 0)
    return measured;
  if (limits.easy_tensor_flops <= 0 || limits.fp32_flops <= 0) return {};
  return {std::max(1.0, limits.easy_tensor_flops / limits.fp32_flops * kShareOfPeak),
          fmt::format("{} × the ratio of the peaks", kShareOfPeak)};
}

bool is_matrix(KernelFamily family) {
  return family == KernelFamily::kGemm || family == KernelFamily::kConvolution ||
         family == KernelFamily::kRecurrent || family == KernelFamily::kAttention;
}

/// What passes activations through memory: half the bytes in half precision. Sums, losses and updates stay as they
/// are.
bool moves_activations(KernelFamily family) {
  return family == KernelFamily::kElementwise || family == KernelFamily::kActivation ||
         family == KernelFamily::kNormalisation || family == KernelFamily::kPooling ||
         family == KernelFamily::kLayoutTransform || family == KernelFamily::kFused;
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const Analysis& analysis = predictor.analysis();
  const std::size_t at = predictor.steps().partition;
  const DevicePartition& partition = analysis.partitions[at];
  if (!partition.device.valid()) return not_here("the steps are a host thread's");
  const DeviceLimits limits =
      limits_of(trace.devices[partition.device.value], analysis.work[at].architecture);
  const Speedup faster =
      speedup(trace.devices[partition.device.value], limits, predictor.machine());
  if (faster.factor <= 0)
    return not_here("the device's peaks are not known, and it was not calibrated");
  const DurationNs least = shortest_kernel(trace.device_ops);
  Editor editor(predictor);
  std::int64_t kernels = 0;
  auto fits = [&](DeviceOpId op) {
    KernelTraits traits = predictor.kernels().of(op);
    return is_matrix(traits.family) && traits.math_unit == MathUnit::kGeneral;
  };
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    const DeviceOpId op{i};
    const bool matrix = fits(op);
    const bool halved = !limits.easy_is_tf32 &&
                        analysis.attribution.phase_of[i] != Phase::kUpdate &&
                        moves_activations(predictor.kernels().of(op).family);
    if (!matrix && !halved) continue;
    const DurationNs now = trace.device_ops.interval(op).length();
    const double left = static_cast<double>((now - least).ns) / (matrix ? faster.factor : 2);
    editor.set_op(op, least + DurationNs{static_cast<std::int64_t>(left)}, true);
    kernels += matrix;
  }
  if (kernels == 0) return not_here("no matrix kernel is known to run on general cores");
  DurationNs time = per_step(predictor, [&](DeviceOpId op) {
    return fits(op) ? trace.device_ops.interval(op).length() : DurationNs{};
  });
  Proposal proposal{
      true,
      fmt::format("{} of matrix kernels per step get {:.1f}× faster ({} on {}; {})",
                  format_duration(time), faster.factor, limits.easy_is_tf32 ? "TF32" : "FP16",
                  limits.model ? limits.model->id : "this device", faster.reason),
      editor.take()};
  proposal.setting = limits.easy_is_tf32 ? "--precision tf32" : "--precision amp-o2";
  return proposal;
}

}  // namespace

const Fix kTensorCores{
    "tensor-cores",
    "Let matrix kernels use tensor cores",
    "no-tensor-cores",
    FixKind::kModelled,
    0.35,
    "--precision tf32",
    "Matrix kernels on general cores get faster by the ratio of the rates that `headway calibrate` "
    "measured, else by 0.7 × the ratio of the peaks, but for what the shortest kernel takes. In "
    "half "
    "precision, which devices without TF32 need, kernels that pass activations through memory take "
    "half; casts are not added.",
    "how much of them is limited by memory",
    propose};

}  // namespace headway::analyzer
