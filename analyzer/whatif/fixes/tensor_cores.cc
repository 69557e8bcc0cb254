// SPDX-License-Identifier: MIT
// FP32 matrix kernels on general cores run on tensor cores in TF32, without touching the model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/hardware/gpus.h"
#include "analyzer/whatif/editor.h"
#include "analyzer/whatif/fixes/fixes.h"
#include "analyzer/whatif/kernel_bound.h"
#include "analyzer/whatif/kernel_rates.h"
#include "analyzer/whatif/small_products.h"
#include "common/format.h"

namespace headway::analyzer {
namespace {

using namespace trace;

/// How much faster the matrix units are, and why.
struct Speedup {
  double factor = 0;  ///< 0: not known
  double peaks = 0;   ///< the same for arithmetic alone
  std::string reason;
};

/// The speedup by measured rates of large products on this device, which replace the formula's
/// estimate.
Speedup measured_speedup(const Device& device, const MachineFacts& machine) {
  const auto general = machine.of(device, MachineFigure::kGemmFp32);
  const auto matrix = machine.of(device, MachineFigure::kGemmTf32);
  if (!general || !matrix) return {};
  const double factor = std::max(1.0, matrix->value.p50 / general->value.p50);
  return {factor, factor, fmt::format("matrix products, {}", matrix->source)};
}

Speedup speedup(const Device& device, const DeviceLimits& limits, const MachineFacts& machine) {
  if (Speedup measured = measured_speedup(device, machine); measured.factor > 0) return measured;
  if (limits.easy_tensor_flops <= 0 || limits.fp32_flops <= 0) return {};
  const double peaks = limits.easy_tensor_flops / limits.fp32_flops;
  return {std::max(1.0, peaks * kShareOfPeaks), std::max(1.0, peaks),
          fmt::format("{} × the ratio of the peaks", kShareOfPeaks)};
}

Proposal propose(const Predictor& predictor) {
  const Trace& trace = predictor.trace();
  const std::optional<DeviceLimits> limits = limits_of_steps(predictor);
  if (!limits) return not_here("the steps run on a host thread");
  const Device& device =
      trace.devices[predictor.analysis().partitions[predictor.steps().partition].device.value];
  const Speedup faster = speedup(device, *limits, predictor.machine());
  if (limits->model && !limits->easy_is_tf32)
    return not_here("the device has no TF32: half-precision uses its tensor cores");
  if (faster.factor <= 0) return not_here("the device's peaks are unknown and not calibrated");
  const auto measured = predictor.machine().of(device, MachineFigure::kGemmFp32);
  const double general = measured ? measured->value.p50 : kMatrixShare * limits->fp32_flops;
  const DurationNs least = shortest_kernel(trace.device_ops);
  auto fits = [&](DeviceOpId op) {
    KernelTraits traits = predictor.kernels().of(op);
    return is_matrix_work(traits.family) && traits.math_unit == MathUnit::kGeneral;
  };
  const SmallProducts small(predictor, limits->multiprocessors,
                            [general](DeviceOpId) { return general; });
  std::int64_t kernels = 0;
  auto on_tensor_cores = [&](SmallProduct held_by) {
    Editor editor(predictor);
    kernels = 0;
    for (std::uint32_t i = 0; i < trace.device_ops.size(); ++i) {
      const DeviceOpId op{i};
      if (!fits(op)) continue;
      ++kernels;
      const DurationNs now = trace.device_ops.interval(op).length();
      if (now <= least) continue;
      const double left =
          small.share_left(op, faster.peaks, 1, held_by).value_or(1 / faster.factor);
      editor.set_op(
          op, least + DurationNs{std::llround(left * static_cast<double>((now - least).ns))}, true);
    }
    return editor.take();
  };
  Scenario likely = on_tensor_cores(SmallProduct::kEither);
  if (kernels == 0) return not_here("no matrix kernel is known to run on general cores");
  DurationNs time = per_step(predictor, [&](DeviceOpId op) {
    return fits(op) ? trace.device_ops.interval(op).length() : DurationNs{};
  });
  Proposal proposal{true,
                    fmt::format("{} of matrix kernels per step get {:.1f}× faster (TF32 on {}; {})",
                                format_duration(time), faster.factor,
                                limits->model ? limits->model->id : "this device", faster.reason),
                    std::move(likely)};
  for (const SmallProduct held_by : small.ends())
    proposal.otherwise.push_back(on_tensor_cores(held_by));
  const std::string setting =
      predictor.analysis().program.is_inference() ? "--infer-precision tf32" : "--precision tf32";
  // If most products are in half precision, the setting does not explain the few others.
  if (const ProductTime products = product_time(predictor);
      ratio(products.half, products.all) < 0.5)
    proposal.setting = setting;
  if (trace.meta_value("env.NVIDIA_TF32_OVERRIDE") == "0") {
    proposal.text += "; requires NVIDIA_TF32_OVERRIDE other than 0";
    proposal.setting = "NVIDIA_TF32_OVERRIDE unset, " + setting;
  }
  return proposal;
}

}  // namespace

const Fix kTensorCores{
    "tensor-cores",
    "Let matrix kernels use tensor cores",
    "no-tensor-cores",
    FixKind::kModelled,
    0.45,
    "",  // "--precision tf32", where all products are in FP32
    "A matrix kernel on general cores takes the longer of its arithmetic at the tensor-core rate "
    "and its bytes, if recorded; if its blocks do not fill the device, half of it may be latency. "
    "Otherwise it speeds up by the rates from `headway calibrate`, or "
    "by 0.7 × the ratio of the peaks. The shortest kernel's time is fixed.",
    "how many of them are memory-bound",
    propose};

}  // namespace headway::analyzer
