// SPDX-License-Identifier: MIT
#include "analyzer/whatif/kernel_rates.h"

#include <algorithm>

#include "analyzer/hardware/gpus.h"
#include "analyzer/whatif/editor.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr double kNearPeak = 0.85;
/// A product of so many times the shortest kernel's time spends it on its arithmetic.
constexpr std::int64_t kLarge = 20;

MachineFigure product_figure(MathUnit unit, Precision precision) {
  if (unit != MathUnit::kTensor) return MachineFigure::kGemmFp32;
  switch (precision) {
    case Precision::kFp16:
      return MachineFigure::kGemmFp16;
    case Precision::kBf16:
      return MachineFigure::kGemmBf16;
    default:
      return MachineFigure::kGemmTf32;
  }
}

}  // namespace

double memory_bytes_per_ns(const Predictor& predictor, DeviceId id) {
  const Device& device = predictor.trace().devices[id.value];
  if (const auto measured = predictor.machine().of(device, MachineFigure::kDeviceTriad))
    return measured->value.p50 / 1e9;
  return kNearPeak * limits_of(device, 0).memory_bytes_per_second / 1e9;
}

ProductRates::ProductRates(const Predictor& predictor) : predictor_(predictor) {
  const DeviceOps& ops = predictor.trace().device_ops;
  const DurationNs least = shortest_kernel(ops) * kLarge;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    const DeviceOpId op{i};
    const DurationNs length = ops.interval(op).length();
    if (ops.flops[i] <= 0 || length <= least ||
        predictor.kernels().of(op).family != KernelFamily::kGemm)
      continue;
    double& best = reached_[key_of(op)];
    best = std::max(best, static_cast<double>(ops.flops[i]) / static_cast<double>(length.ns));
  }
}

double ProductRates::of(DeviceOpId kernel) const {
  const auto [device, unit, precision] = key_of(kernel);
  const Device& its = predictor_.trace().devices[device.value];
  if (const auto measured = predictor_.machine().of(its, product_figure(unit, precision)))
    return measured->value.p50 / 1e9;
  const DeviceLimits limits = limits_of(its, predictor_.kernels().of(kernel).architecture);
  // Names of kernels do not always tell the number type: TF32 then, the slowest of the usual ones.
  const bool unknown = unit == MathUnit::kTensor && precision == Precision::kUnknown;
  const double peak =
      (unknown ? limits.easy_tensor_flops : limits.peak_flops(unit, precision)) / 1e9;
  const auto reached = reached_.find(key_of(kernel));
  if (reached == reached_.end()) return kMatrixShare * peak;
  // More than the peak can only be counted wrongly.
  return peak > 0 ? std::clamp(reached->second, kMatrixShare * peak, peak) : reached->second;
}

ProductRates::Key ProductRates::key_of(DeviceOpId kernel) const {
  const Trace& trace = predictor_.trace();
  const StreamId stream = trace.device_ops.stream[kernel.value];
  const KernelTraits traits = predictor_.kernels().of(kernel);
  return {trace.streams[stream.value].device, traits.math_unit, traits.precision};
}

}  // namespace headway::analyzer
