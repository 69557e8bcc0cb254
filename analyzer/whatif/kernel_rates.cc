// SPDX-License-Identifier: MIT
#include "analyzer/whatif/kernel_rates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <unordered_map>

#include "analyzer/hardware/gpus.h"
#include "analyzer/whatif/editor.h"

namespace headway::analyzer {
namespace {

using namespace trace;

constexpr double kNearPeak = 0.85;
/// A product of at least this many times the shortest kernel's time is large: start and end hardly
/// count.
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

std::uint64_t size_key(DeviceId device, StringId name, std::uint64_t bytes) {
  constexpr int kBits = 4;  // the leading one and three more: eighths
  const int width = std::bit_width(bytes);
  const std::uint64_t leading = width > kBits ? bytes >> (width - kBits) : bytes;
  const std::uint64_t size = (static_cast<std::uint64_t>(width) << kBits) | leading;
  return (static_cast<std::uint64_t>(device.value) << 48) | (size << 32) | name.value;
}

}  // namespace

double memory_bytes_per_ns(const Predictor& predictor, DeviceId id) {
  const Device& device = predictor.trace().devices[id.value];
  if (const auto measured = predictor.machine().of(device, MachineFigure::kDeviceTriad))
    return measured->value.p50 / 1e9;
  return kNearPeak * limits_of(device, 0).memory_bytes_per_second / 1e9;
}

MemoryRates::MemoryRates(const Predictor& predictor)
    : predictor_(predictor), least_(shortest_kernel(predictor.trace().device_ops)) {
  struct Sum {
    double bytes = 0;
    double ns = 0;
    std::int64_t kernels = 0;
    KernelFamily family = KernelFamily::kUnknown;
    DeviceId device;
  };
  const Trace& trace = predictor.trace();
  const DeviceOps& ops = trace.device_ops;
  auto working = [&](DeviceOpId op) {
    return std::max(0.0, static_cast<double>((ops.interval(op).length() - least_).ns));
  };
  std::map<std::pair<DeviceId, StringId>, Sum> by_name;
  std::unordered_map<std::uint64_t, Sum> by_size;  // of a name, by device and eighths of a size
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    const DeviceOpId op{i};
    if (!is_bound_by_memory(op)) continue;
    const DeviceId device = trace.streams[ops.stream[i].value].device;
    Sum& sum = by_name[{device, ops.name[i]}];
    sum.bytes += static_cast<double>(ops.bytes[i]);
    sum.ns += working(op);
    ++sum.kernels;
    sum.family = predictor.kernels().of(op).family;
    Sum& sized = by_size[size_key(device, ops.name[i], static_cast<std::uint64_t>(ops.bytes[i]))];
    sized.device = device;
    sized.bytes += static_cast<double>(ops.bytes[i]);
    sized.ns += working(op);
    ++sized.kernels;
  }
  // The rate of a kernel that is hardly longer than the shortest one is noise; a rate above the
  // peak comes from a cache.
  constexpr double kTold = 0.5;
  const auto least = static_cast<double>(least_.ns);
  auto tells = [&](const Sum& sum, DeviceId device) {
    const double peak = limits_of(trace.devices[device.value], 0).memory_bytes_per_second / 1e9;
    return sum.ns > kTold * least * static_cast<double>(sum.kernels) &&
           (peak <= 0 || sum.bytes / sum.ns <= peak);
  };
  for (const auto& [key, sum] : by_name) {
    if (!tells(sum, key.first)) continue;
    const double rate = sum.bytes / sum.ns;
    double& its = of_family_[{key.first, sum.family}];
    its = std::max(its, rate);
    double& all = of_all_[key.first];
    all = std::max(all, rate);
  }
  std::map<DeviceId, std::vector<Fastest>> means;
  for (const auto& [key, sum] : by_size) {
    const auto kernels = static_cast<double>(sum.kernels);
    if (tells(sum, sum.device))
      means[sum.device].push_back({sum.bytes / kernels, sum.ns / kernels});
  }
  for (auto& [device, its] : means) {
    std::ranges::sort(its, {}, [](const Fastest& mean) { return std::pair(mean.bytes, mean.ns); });
    std::vector<Fastest>& curve = fastest_[device];
    for (const Fastest& mean : its) {
      while (!curve.empty() && curve.back().ns >= mean.ns) curve.pop_back();
      if (curve.empty() || curve.back().bytes < mean.bytes) curve.push_back(mean);
    }
  }
}

double MemoryRates::least_ns(DeviceId device, double bytes) const {
  const auto found = fastest_.find(device);
  if (found == fastest_.end() || bytes <= 0) return 0;
  const std::vector<Fastest>& curve = found->second;
  const auto above = std::ranges::lower_bound(curve, bytes, {}, &Fastest::bytes);
  if (above == curve.begin()) return curve.front().ns * bytes / curve.front().bytes;
  const Fastest& below = *std::prev(above);
  if (above == curve.end()) return below.ns * bytes / below.bytes;
  const double part = std::log(bytes / below.bytes) / std::log(above->bytes / below.bytes);
  return below.ns * std::pow(above->ns / below.ns, part);
}

bool MemoryRates::is_bound_by_memory(DeviceOpId kernel) const {
  const DeviceOps& ops = predictor_.trace().device_ops;
  if (ops.kind[kernel.value] != DeviceOpKind::kKernel || ops.bytes[kernel.value] <= 0) return false;
  switch (predictor_.kernels().of(kernel).family) {
    case KernelFamily::kNormalisation:
    case KernelFamily::kElementwise:
    case KernelFamily::kActivation:
    case KernelFamily::kReduction:
    case KernelFamily::kSoftmax:
    case KernelFamily::kLoss:
    case KernelFamily::kCast:
    case KernelFamily::kLayoutTransform:
    case KernelFamily::kOptimizer:
    case KernelFamily::kPooling:
    case KernelFamily::kFillCopy:
    case KernelFamily::kFused:
      return true;
    default:
      return false;
  }
}

double MemoryRates::share_of_bytes(DeviceOpId kernel, TimePerByte time) const {
  if (time == TimePerByte::kOwn || !is_bound_by_memory(kernel)) return 1;
  const DeviceOps& ops = predictor_.trace().device_ops;
  const DeviceId device = predictor_.trace().streams[ops.stream[kernel.value].value].device;
  // A CPU has no start-up time. A kernel slower than its best one computes more or shares the CPU.
  if (predictor_.trace().devices[device.value].type == DeviceType::kHost) return 1;
  const auto working = static_cast<double>((ops.interval(kernel).length() - least_).ns);
  const auto all = of_all_.find(device);
  if (working <= 0 || all == of_all_.end()) return 1;
  const auto bytes = static_cast<double>(ops.bytes[kernel.value]);
  auto share = [&](double rate) { return std::min(1.0, bytes / rate / working); };
  if (time == TimePerByte::kBest) return share(all->second);
  const auto family = of_family_.find({device, predictor_.kernels().of(kernel).family});
  return family == of_family_.end() ? 1 : std::midpoint(share(all->second), share(family->second));
}

ProductRates::ProductRates(const Predictor& predictor) : predictor_(predictor) {
  struct Seen {
    DeviceOpId kernel;
    double reached = 0;
  };
  std::map<Key, Seen> seen;
  const DeviceOps& ops = predictor.trace().device_ops;
  const DurationNs least = shortest_kernel(ops) * kLarge;
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    const DeviceOpId op{i};
    const KernelFamily family = predictor.kernels().of(op).family;
    if (ops.kind[i] != DeviceOpKind::kKernel || !is_matrix_work(family)) continue;
    Seen& its = seen.try_emplace(key_of(op), Seen{op}).first->second;
    const DurationNs length = ops.interval(op).length();
    if (ops.flops[i] <= 0 || length <= least || family != KernelFamily::kGemm) continue;
    its.reached =
        std::max(its.reached, static_cast<double>(ops.flops[i]) / static_cast<double>(length.ns));
  }
  for (const auto& [key, its] : seen) rates_[key] = rate(its.kernel, its.reached);
}

double ProductRates::of(DeviceOpId kernel) const {
  const auto known = rates_.find(key_of(kernel));
  return known == rates_.end() ? rate(kernel, 0) : known->second;
}

double ProductRates::rate(DeviceOpId kernel, double reached) const {
  const auto [device, unit, precision] = key_of(kernel);
  const Device& its = predictor_.trace().devices[device.value];
  if (const auto measured = predictor_.machine().of(its, product_figure(unit, precision)))
    return measured->value.p50 / 1e9;
  const DeviceLimits limits = limits_of(its, predictor_.kernels().of(kernel).architecture);
  // If a kernel's name does not show the type, TF32 is assumed, the slowest of the usual ones.
  const bool unknown = unit == MathUnit::kTensor && precision == Precision::kUnknown;
  const double peak =
      (unknown ? limits.easy_tensor_flops : limits.peak_flops(unit, precision)) / 1e9;
  if (reached <= 0) return kMatrixShare * peak;
  // A rate above the peak can only be a wrong count.
  return peak > 0 ? std::clamp(reached, kMatrixShare * peak, peak) : reached;
}

ProductRates::Key ProductRates::key_of(DeviceOpId kernel) const {
  const Trace& trace = predictor_.trace();
  const StreamId stream = trace.device_ops.stream[kernel.value];
  const KernelTraits traits = predictor_.kernels().of(kernel);
  return {trace.streams[stream.value].device, traits.math_unit, traits.precision};
}

}  // namespace headway::analyzer
