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

bool is_matrix(KernelFamily family) {
  return family == KernelFamily::kGemm || family == KernelFamily::kConvolution ||
         family == KernelFamily::kRecurrent;
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const Analysis& analysis = predictor.analysis();
  const std::size_t at = predictor.steps().partition;
  const DevicePartition& partition = analysis.partitions[at];
  if (!partition.device.valid()) return not_here("the steps are a host thread's");
  const DeviceLimits limits =
      limits_of(trace.devices[partition.device.value], analysis.work[at].architecture);
  if (limits.easy_tensor_flops <= 0 || limits.fp32_flops <= 0)
    return not_here("the device's peaks are not known");
  const double faster = std::max(1.0, limits.easy_tensor_flops / limits.fp32_flops * kShareOfPeak);
  const DurationNs least = shortest_kernel(trace.device_ops);
  Editor editor(predictor);
  std::int64_t kernels = 0;
  auto fits = [&](DeviceOpId op) {
    KernelTraits traits = predictor.kernels().of(op);
    return is_matrix(traits.family) && traits.math_unit == MathUnit::kGeneral;
  };
  for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
    const DeviceOpId op{i};
    if (!fits(op)) continue;
    const DurationNs now = trace.device_ops.interval(op).length();
    const double arithmetic = static_cast<double>((now - least).ns) / faster;
    editor.set_op(op, least + DurationNs{static_cast<std::int64_t>(arithmetic)}, true);
    ++kernels;
  }
  if (kernels == 0) return not_here("no matrix kernel is known to run on general cores");
  DurationNs time = per_step(predictor, [&](DeviceOpId op) {
    return fits(op) ? trace.device_ops.interval(op).length() : DurationNs{};
  });
  return {true,
          fmt::format("{} of matrix kernels per step get {:.1f}× faster ({} on {})",
                      format_duration(time), faster, limits.easy_is_tf32 ? "TF32" : "FP16",
                      limits.model ? limits.model->id : "this device"),
          editor.take()};
}

}  // namespace

const Fix kTensorCores{
    "tensor-cores",
    "Let matrix kernels use tensor cores",
    "no-tensor-cores",
    FixKind::kModelled,
    0.35,
    "--precision tf32",
    "Matrix kernels on general cores get faster by 0.7 × the ratio of the peaks, but for what the "
    "shortest kernel takes; casts are not added.",
    "how much of them is limited by memory",
    propose};

}  // namespace headway::analyzer
